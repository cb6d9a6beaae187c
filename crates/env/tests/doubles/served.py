"""What the doubles have in common that speak HTTP: what they remember, how they begin and how they end."""

import asyncio
import signal

from aiohttp import web

from sandboxes import Faults


class Served:
    """A server with sandboxes; `app` says what it answers."""

    def __init__(self, folder):
        self.folder = folder
        self.port = 0
        self.boxes = {}
        self.faults = Faults()
        # Connections that the tests can cut, and what was asked so far.
        self.cuttable = set()
        self.asked = []

    def steered(self, wanted):
        """What tests want of every double; `vanish` and the rest are the vendor's own."""
        self.faults.set(wanted)
        if wanted.get("cut"):
            for transport in self.cuttable:
                transport.abort()
            self.cuttable.clear()

    async def run(self):
        """Prints the port, and serves until nobody holds its input."""
        runner = web.AppRunner(self.app(), access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]
        print(self.port, flush=True)
        over = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, over.set)
        asyncio.get_running_loop().add_reader(0, over.set)
        await over.wait()
        for box in self.boxes.values():
            box.sandbox.remove()
