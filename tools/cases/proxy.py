"""A proxy between a scheduler and its API server that refuses, cuts, delays and loses what goes through.

`Faults` says how often what happens, by a seeded generator; all of it is off at first. It runs in a thread of its own.
"""
import asyncio
import dataclasses
import json
import os
import random
import re
import socket
import ssl
import struct
import subprocess
import threading

HEAD_MAX = 1 << 20


@dataclasses.dataclass
class Faults:
    """Each a part of all calls, from 0 to 1; of watches only those that are named so."""
    conflict: float = 0  # 409
    busy: float = 0  # 429 with Retry-After
    broken: float = 0  # 500, 503 or 504
    reset: float = 0  # before it was handed on
    lost: float = 0  # done, and the answer is lost
    wrong: float = 0  # done, and answered 500 or 504
    slow: float = 0
    cut: float = 0  # the answer ends in the middle
    watch_cut: float = 0  # of a watch's pieces
    watch_gone: float = 0  # of watches: 410 at once
    retry_after: int = 1
    slow_seconds: float = 0.3


class Proxy:
    def __init__(self, folder, api, seed):
        self.folder, self.api = folder, api
        self.random = random.Random(seed)
        self.faults = Faults()
        self.counts = {}
        self.is_silent = False
        self.connections = set()
        self.make_certificate()
        self.loop = asyncio.new_event_loop()
        self.is_up = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        self.is_up.wait()
        self.write_kubeconfig()

    def make_certificate(self):
        self.certificate, self.key = self.folder / "proxy.crt", self.folder / "proxy.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
             self.key, "-out", self.certificate, "-days", "2", "-subj", "/CN=proxy", "-addext",
             "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)

    def write_kubeconfig(self):
        self.kubeconfig = self.folder / "proxied"
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "proxied",
            "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{self.port}",
                                                   "certificate-authority": str(self.certificate)}}],
            "users": [{"name": "u", "user": {"token": self.api.token}}],
            "contexts": [{"name": "proxied", "context": {"cluster": "c", "user": "u"}}]}
        with open(self.kubeconfig, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            json.dump(config, file)

    def run(self):
        asyncio.set_event_loop(self.loop)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)

        async def serve():
            self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=context, limit=HEAD_MAX)
            self.port = self.server.sockets[0].getsockname()[1]
            self.is_up.set()
        self.loop.run_until_complete(serve())
        self.loop.set_exception_handler(lambda *_: None)  # of connections that were cut
        self.loop.run_forever()

    def stop(self):
        async def end():
            self.server.close()
            tasks = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
            for one in tasks:
                one.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.loop.stop()
        asyncio.run_coroutine_threadsafe(end(), self.loop)
        self.thread.join()

    def note(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def cut_all(self):
        """All connections end, as when a balancer is restarted."""
        def cut():
            for writer in list(self.connections):
                reset(writer)
        self.loop.call_soon_threadsafe(cut)

    def happens(self, part):
        return part > 0 and self.random.random() < part

    # --- one connection

    async def serve(self, reader, writer):
        self.connections.add(writer)
        upstream = None
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
                body = await reader.readexactly(int(length.group(1))) if length else b""
                while self.is_silent:
                    await asyncio.sleep(0.05)
                if upstream is None:
                    host, port = self.api.host.rsplit(":", 1)
                    upstream = await asyncio.open_connection(host, int(port), ssl=self.api.tls, limit=HEAD_MAX)
                if not await self.exchange(head, body, writer, upstream):
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ssl.SSLError, ValueError):
            pass
        finally:
            self.connections.discard(writer)
            reset(writer)
            if upstream is not None:
                upstream[1].transport.abort()

    async def exchange(self, head, body, writer, upstream):
        """False when the connection is over."""
        faults = self.faults
        method, target = head.split(b" ", 2)[:2]
        is_watch = b"watch=1" in target
        if is_watch and self.happens(faults.watch_gone):
            self.note("watch gone")
            gone = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410}
            return await answer(writer, 200, {"type": "ERROR", "object": gone}, line=True)
        if not is_watch:
            refusal = self.refuse(faults, method != b"GET")
            if refusal:
                return await answer(writer, *refusal)
        if self.happens(faults.reset):
            self.note("reset")
            return False
        if self.happens(faults.slow):
            self.note("slow")
            await asyncio.sleep(self.random.uniform(0, faults.slow_seconds))
        upstream[1].write(head + body)
        await upstream[1].drain()
        if not is_watch and self.happens(faults.lost):
            await relay(upstream[0], None)
            self.note("lost")
            return False
        if method != b"GET" and self.happens(faults.wrong):
            await relay(upstream[0], None)
            self.note("wrong")
            return await answer(writer, *refused(self.random.choice((500, 504))))
        # A list comes in as many pieces as the server likes: it is cut, or not, as a whole.
        is_cut = not is_watch and self.happens(faults.cut)
        ends = (lambda: self.happens(faults.watch_cut)) if is_watch else (lambda: is_cut)
        if await relay(upstream[0], writer, lambda: self.is_silent, ends):
            return True
        self.note("watch cut" if is_watch else "cut")
        return False

    def refuse(self, faults, is_write):
        if is_write and self.happens(faults.conflict):
            self.note("409")
            return refused(409)
        if self.happens(faults.busy):
            self.note("429")
            return refused(429, faults.retry_after)
        if self.happens(faults.broken):
            self.note("5xx")
            return refused(self.random.choice((500, 503, 504)))
        return None


def refused(status, retry_after=None):
    reason = {409: "Conflict", 429: "TooManyRequests"}.get(status, "InternalError")
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": status,
            "message": f"the script refuses this with {status}"}
    return status, body, retry_after


async def answer(writer, status, body, retry_after=None, line=False):
    text = (json.dumps(body) + ("\n" if line else "")).encode()
    more = f"Retry-After: {retry_after}\r\n" if retry_after is not None else ""
    writer.write(f"HTTP/1.1 {status} Script\r\nContent-Type: application/json\r\n{more}"
                 f"Content-Length: {len(text)}\r\n\r\n".encode() + text)
    await writer.drain()
    return True


async def relay(reader, writer, is_silent=lambda: False, ends=lambda: False):
    """One answer; False when it was ended in the middle. Without a writer it is only read."""
    async def put(data):
        while is_silent():
            await asyncio.sleep(0.05)
        if writer is not None:
            writer.write(data)
            await writer.drain()
    head = await reader.readuntil(b"\r\n\r\n")
    await put(head)
    if re.search(rb"(?i)\r\ntransfer-encoding: chunked", head):
        while True:
            size = await reader.readuntil(b"\r\n")
            data = await reader.readexactly(int(size, 16) + 2)
            if ends():
                await put(size + data[:len(data) // 2])
                return False
            await put(size + data)
            if len(data) == 2:
                return True
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    data = await reader.readexactly(int(length.group(1)) if length else 0)
    if ends():
        await put(data[:len(data) // 2])
        return False
    await put(data)
    return True


def reset(writer):
    """Ends it as a router does that has forgotten the connection."""
    try:
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except (OSError, AttributeError):
        pass
    if writer.transport is not None:
        writer.transport.abort()
