"""Discord's REST API, version 10, as its documentation describes it: one server with a few channels."""

from service import Double, Refusal

double = Double("/api/v10")
GUILD, TEXT, NEWS, CLOSED = "1000000000000000001", "2000000000000000001", "2000000000000000002", "2000000000000000009"
ANN, BOT, ROLE, LOCKED = "3000000000000000001", "3000000000000000002", "4000000000000000001", "4000000000000000009"
FLAGS = {"flags": 1 << 15 | 1 << 19}


def user(id, name, bot=False):
    return {"id": id, "username": name, "discriminator": "0", "global_name": name.title(), "avatar": None, "bot": bot, "public_flags": 0}


def message(id, text, author=None, **more):
    return {
        "id": id, "channel_id": TEXT, "type": 0, "content": text, "author": author or user(ANN, "ann"),
        "timestamp": "2026-01-02T03:04:05.000000+00:00", "edited_timestamp": None, "tts": False, "mention_everyone": False,
        "mentions": [], "mention_roles": [], "attachments": [], "embeds": [], "pinned": False, "flags": 0, "components": [], **more,
    }


MESSAGES = [message("5000000000000000003", "third"), message("5000000000000000002", "second", user(BOT, "robot", True)), message("5000000000000000001", "first")]
ROLES = [
    {"id": GUILD, "name": "@everyone", "color": 0, "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None}, "hoist": False, "position": 0, "permissions": "0", "managed": False, "mentionable": False, "flags": 0},
    {"id": ROLE, "name": "helper", "color": 255, "colors": {"primary_color": 255, "secondary_color": None, "tertiary_color": None}, "hoist": True, "position": 2, "permissions": "8", "managed": False, "mentionable": True, "flags": 0},
]
MEMBER = {"user": user(ANN, "ann"), "nick": "Annie", "avatar": None, "roles": [ROLE], "joined_at": "2025-01-01T00:00:00.000000+00:00", "premium_since": None, "deaf": False, "mute": False, "flags": 0, "pending": False, "communication_disabled_until": None}
SERVER = {
    "id": GUILD, "name": "Garden", "icon": None, "splash": None, "discovery_splash": None, "owner_id": ANN, "afk_channel_id": None, "afk_timeout": 300,
    "verification_level": 1, "default_message_notifications": 0, "explicit_content_filter": 0, "roles": ROLES, "emojis": [], "features": ["COMMUNITY"], "mfa_level": 0,
    "application_id": None, "system_channel_id": TEXT, "system_channel_flags": 0, "rules_channel_id": None, "max_members": 500000, "vanity_url_code": None,
    "description": "plants", "banner": None, "premium_tier": 0, "premium_subscription_count": 0, "preferred_locale": "en-US", "public_updates_channel_id": None,
    "nsfw_level": 0, "stickers": [], "premium_progress_bar_enabled": False, "safety_alerts_channel_id": None, "approximate_member_count": 12, "approximate_presence_count": 3,
}


def channel(id, name, kind, position):
    return {"id": id, "type": kind, "guild_id": GUILD, "name": name, "position": position, "permission_overwrites": [], "parent_id": None, "topic": "about " + name, "nsfw": False, "rate_limit_per_user": 0, "last_message_id": None, "flags": 0}


CHANNELS = [channel(NEWS, "news", 5, 1), channel(TEXT, "talk", 0, 0)]


def before(asked):
    if asked.headers.get("authorization") != "Bot good-token":
        raise Refusal(401, {"message": "401: Unauthorized", "code": 0})
    if not asked.headers.get("user-agent", "").startswith("DiscordBot ("):
        raise Refusal(403, {"message": "unknown client", "code": 0})


double.before = before


def known(asked, name, ids, code, what):
    if asked.parts[name] not in ids:
        raise Refusal(404, {"message": "Unknown " + what, "code": code})


def in_guild(asked):
    known(asked, "guild", [GUILD], 10004, "Guild")


def in_channel(asked):
    if asked.parts["channel"] == CLOSED:
        raise Refusal(403, {"message": "Missing Access", "code": 50001})
    known(asked, "channel", [TEXT, NEWS], 10003, "Channel")


def on_message(asked):
    in_channel(asked)
    known(asked, "message", [it["id"] for it in MESSAGES], 10008, "Message")


def limit(asked, most, usual):
    number = int(asked.query.get("limit", usual))
    if not 1 <= number <= most:
        raise Refusal(400, {"message": "Invalid Form Body", "code": 50035, "errors": {"limit": {}}})
    return number


@double.route("GET", "/users/@me")
def me(_):
    return user(BOT, "robot", True)


@double.route("GET", "/oauth2/applications/@me")
@double.route("GET", "/applications/@me")
def application(_):
    return {"id": BOT, "name": "robot", "icon": None, "description": "", "bot_public": True, "bot_require_code_grant": False, "summary": "", "verify_key": "x", "team": None, "owner": user(ANN, "ann"), **FLAGS}


@double.route("GET", "/users/@me/guilds")
def guilds(asked):
    limit(asked, 200, 200)
    return [{"id": GUILD, "name": "Garden", "icon": None, "owner": False, "permissions": "8", "features": [], "approximate_member_count": 12, "approximate_presence_count": 3}]


@double.route("GET", "/guilds/{guild}")
def guild(asked):
    in_guild(asked)
    return SERVER


@double.route("GET", "/guilds/{guild}/channels")
def channels(asked):
    in_guild(asked)
    return CHANNELS


@double.route("GET", "/guilds/{guild}/roles")
def roles(asked):
    in_guild(asked)
    return ROLES


@double.route("GET", "/guilds/{guild}/members/search")
def search(asked):
    in_guild(asked)
    limit(asked, 1000, 1)
    if not asked.query.get("query"):
        raise Refusal(400, {"message": "Invalid Form Body", "code": 50035})
    if not FLAGS["flags"] & (1 << 14 | 1 << 15):
        raise Refusal(403, {"message": "Missing Access", "code": 50001})
    return [MEMBER] if "annie".startswith(asked.query["query"].lower()) else []


@double.route("GET", "/guilds/{guild}/members/{user}")
def member(asked):
    in_guild(asked)
    known(asked, "user", [ANN], 10007, "Member")
    return MEMBER


@double.route("PUT", "/guilds/{guild}/members/{user}/roles/{role}")
@double.route("DELETE", "/guilds/{guild}/members/{user}/roles/{role}")
def give_role(asked):
    in_guild(asked)
    known(asked, "user", [ANN], 10007, "Member")
    if asked.parts["role"] == LOCKED:
        raise Refusal(403, {"message": "Missing Permissions", "code": 50013})
    known(asked, "role", [ROLE], 10011, "Role")
    return 204, None, {}


@double.route("GET", "/channels/{channel}")
def one_channel(asked):
    in_channel(asked)
    return next(it for it in CHANNELS if it["id"] == asked.parts["channel"])


@double.route("GET", "/channels/{channel}/messages")
def messages(asked):
    in_channel(asked)
    number = limit(asked, 100, 50)
    before = asked.query.get("before", "9" * 19)
    after = asked.query.get("after", "0")
    silent = [dict(it, content="") for it in MESSAGES] if not FLAGS["flags"] & (1 << 18 | 1 << 19) else MESSAGES
    return [it for it in silent if int(after) < int(it["id"]) < int(before)][:number]


@double.route("GET", "/channels/{channel}/messages/pins")
def pins(asked):
    in_channel(asked)
    limit(asked, 50, 50)
    return {"items": [{"pinned_at": "2026-02-01T00:00:00.000000+00:00", "message": dict(MESSAGES[2], pinned=True)}], "has_more": False}


@double.route("PUT", "/channels/{channel}/messages/pins/{message}")
@double.route("DELETE", "/channels/{channel}/messages/pins/{message}")
@double.route("DELETE", "/channels/{channel}/messages/{message}")
def on_one_message(asked):
    on_message(asked)
    return 204, None, {}


@double.route("GET", "/channels/{channel}/messages/{message}")
def one_message(asked):
    on_message(asked)
    return next(it for it in MESSAGES if it["id"] == asked.parts["message"])


@double.route("POST", "/channels/{channel}/threads")
@double.route("POST", "/channels/{channel}/messages/{message}/threads")
def thread(asked):
    on_message(asked) if "message" in asked.parts else in_channel(asked)
    if not 1 <= len(asked.body.get("name", "")) <= 100 or asked.body.get("auto_archive_duration", 60) not in (60, 1440, 4320, 10080):
        raise Refusal(400, {"message": "Invalid Form Body", "code": 50035})
    return 201, {
        **channel("6000000000000000001", asked.body["name"], 11, 0), "parent_id": TEXT, "owner_id": BOT, "message_count": 0, "member_count": 1, "total_message_sent": 0,
        "thread_metadata": {"archived": False, "auto_archive_duration": asked.body.get("auto_archive_duration", 60), "archive_timestamp": "2026-01-02T03:04:05.000000+00:00", "locked": False},
    }, {}


@double.route("PUT", "/__flags/{flags}")
def flags(asked):
    FLAGS["flags"] = int(asked.parts["flags"])
    return {}


if __name__ == "__main__":
    double.serve()
