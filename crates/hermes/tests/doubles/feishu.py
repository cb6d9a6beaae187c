"""The open platform of Feishu, as its documentation describes it: an application, one document and the
comments on it."""

from service import Double, Refusal

double = Double("/open-apis")
DOC, CLOSED, COMMENT, WHOLE = "doxcnGoodDocument1", "doxcnClosedDocument", "7000000000000000001", "7000000000000000002"
TOKEN = "t-good"


def no(status, code, msg):
    raise Refusal(status, {"code": code, "msg": msg, "error": {"log_id": "x"}})


def before(asked):
    if "/auth/v3/" in asked.path:
        return
    if asked.headers.get("authorization") != "Bearer " + TOKEN:
        no(400, 99991663, "Invalid access token for authorization. Please make a test attempt with the correct token.")


double.before = before
double.unknown = lambda asked: (404, "404 page not found", {"Content-Type": "text/plain"})


def yes(**data):
    return {"code": 0, "msg": "success", "data": data}


@double.route("POST", "/auth/v3/tenant_access_token/internal")
def token(asked):
    if (asked.body.get("app_id"), asked.body.get("app_secret")) != ("cli_good", "good-secret"):
        return {"code": 10014, "msg": "app secret invalid"}
    return {"code": 0, "msg": "ok", "tenant_access_token": TOKEN, "expire": 7200}


def document(asked):
    if asked.parts["token"] == CLOSED:
        no(403, 1770032, "forBidden")
    if asked.parts["token"] != DOC:
        no(404, 1770002, "not found")


@double.route("GET", "/docx/v1/documents/{token}/raw_content")
def raw(asked):
    document(asked)
    return yes(content="Plan\nBuy milk.\n")


def reply(id, text):
    return {"reply_id": id, "user_id": "ou_ann", "create_time": 1700000000, "update_time": 1700000000, "content": {"elements": [{"type": "text_run", "text_run": {"text": text}}]}, "extra": {"image_list": []}}


def comment(id, quote, whole):
    return {"comment_id": id, "user_id": "ou_ann", "create_time": 1700000000, "update_time": 1700000000, "is_solved": False, "is_whole": whole, "quote": quote, "has_more": False, "reply_list": {"replies": [reply("8000000000000000001", "which milk?")]}}


def file(asked):
    document(asked)
    if asked.query.get("file_type") not in ("doc", "docx", "sheet", "file", "slides"):
        no(400, 1069301, "file_type is invalid")


@double.route("GET", "/drive/v1/files/{token}/comments")
def comments(asked):
    file(asked)
    items = [comment(COMMENT, "milk", False), comment(WHOLE, "", True)]
    if asked.query.get("is_whole", "").lower() == "true":
        items = items[1:]
    size = int(asked.query.get("page_size", 50))
    start = int(asked.query.get("page_token") or 0)
    if not 1 <= size <= 100:
        no(400, 1069301, "page_size is invalid")
    more = start + size < len(items)
    return yes(items=items[start:start + size], has_more=more, page_token=str(start + size) if more else "")


@double.route("POST", "/drive/v1/files/{token}/comments")
def add(asked):
    file(asked)
    elements = asked.body["reply_list"]["replies"][0]["content"]["elements"]
    if [element["type"] for element in elements] != ["text_run"] or not elements[0]["text_run"]["text"]:
        no(400, 1069301, "content is invalid")
    return yes(**comment("7000000000000000003", "", True))


@double.route("GET", "/drive/v1/files/{token}/comments/{comment}/replies")
def replies(asked):
    file(asked)
    if asked.parts["comment"] not in (COMMENT, WHOLE):
        no(404, 1069307, "not exist")
    return yes(items=[reply("8000000000000000001", "which milk?")], has_more=False, page_token="")


@double.route("POST", "/drive/v1/files/{token}/comments/{comment}/replies")
def answer(asked):
    file(asked)
    if asked.parts["comment"] == WHOLE:
        no(400, 1069302, "param error")
    text = asked.body["content"]["elements"][0]["text_run"]["text"]
    return yes(**reply("8000000000000000002", text))


if __name__ == "__main__":
    double.serve()
