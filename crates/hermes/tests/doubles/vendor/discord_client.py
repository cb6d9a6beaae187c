"""The double of Discord, used by discord.py: whatever this prints or raises is a fault of the double."""

import asyncio
import sys

import discord
from discord.http import Route

GUILD, TEXT, ANN, ROLE, MESSAGE = 1000000000000000001, 2000000000000000001, 3000000000000000001, 4000000000000000001, 5000000000000000001


async def main():
    Route.BASE = sys.argv[1]
    async with discord.Client(intents=discord.Intents.none()) as client:
        await client.login("good-token")
        guild = await client.fetch_guild(GUILD, with_counts=True)
        assert (guild.name, guild.approximate_member_count) == ("Garden", 12), guild
        assert [it.name async for it in client.fetch_guilds(limit=100)] == ["Garden"]
        channels = await guild.fetch_channels()
        assert {it.name for it in channels} == {"talk", "news"}, channels
        assert {it.name for it in await guild.fetch_roles()} == {"@everyone", "helper"}
        member = await guild.fetch_member(ANN)
        assert member.nick == "Annie", member
        found = await client.http.request(Route("GET", "/guilds/{guild_id}/members/search", guild_id=GUILD), params={"query": "an", "limit": 5})
        assert discord.Member(data=found[0], guild=guild, state=client._connection).id == ANN
        talk = await client.fetch_channel(TEXT)
        said = [it async for it in talk.history(limit=2, before=discord.Object(5000000000000000003))]
        assert [it.content for it in said] == ["second", "first"], said
        assert [it.content async for it in talk.pins(limit=10)] == ["first"]
        message = await talk.fetch_message(MESSAGE)
        await message.pin()
        await message.unpin()
        thread = await talk.create_thread(name="plans", type=discord.ChannelType.public_thread, auto_archive_duration=1440)
        assert thread.parent_id == TEXT and thread.auto_archive_duration == 1440
        await message.create_thread(name="more", auto_archive_duration=60)
        await member.add_roles(discord.Object(ROLE))
        await member.remove_roles(discord.Object(ROLE))
        await message.delete()
        try:
            await client.fetch_channel(2000000000000000009)
            raise AssertionError("the closed channel is open")
        except discord.Forbidden as error:
            assert error.code == 50001


asyncio.run(main())
