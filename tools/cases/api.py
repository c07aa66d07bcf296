"""A client of an API server, and waiting for what it says."""
import base64
import http.client
import json
import pathlib
import re
import ssl
import threading
import time

SECONDS = 60  # nothing takes as long unless it hangs
MERGE = "application/merge-patch+json"


class Api:
    def __init__(self, kubeconfig):
        self.kubeconfig = pathlib.Path(kubeconfig)
        text = self.kubeconfig.read_text()
        self.host = re.search(r"https://([\w.:]+)", text).group(1)
        self.token = re.search(r"token\"?: \"?(\w+)", text).group(1)
        authority = re.search(r"certificate-authority: (\S+)", text)
        self.authority = pathlib.Path(authority.group(1)).read_text() if authority else ""
        if data := re.search(r"certificate-authority-data\"?: \"?([^\"\s]+)", text):
            self.authority = base64.b64decode(data.group(1)).decode()
        self.tls = ssl.create_default_context(cadata=self.authority)
        self.own = threading.local()

    def connect(self):
        return http.client.HTTPSConnection(self.host, context=self.tls, timeout=SECONDS)

    def headers(self, content="application/json"):
        return {"Authorization": f"Bearer {self.token}", "User-Agent": "cases/1", "Accept": "application/json",
                "Content-Type": content}

    def ask(self, method, path, body=None, content="application/json"):
        """(status, object); (0, None) when the server is away. Asked twice when a kept connection has ended."""
        text = json.dumps(body) if body is not None else None
        for _ in range(2):
            known = getattr(self.own, "connection", None)
            connection, self.own.connection = known or self.connect(), None
            try:
                connection.request(method, path, text, self.headers(content))
                answer = connection.getresponse()
                read = json.loads(answer.read() or b"{}")
                self.own.connection = connection
                return answer.status, read
            except (OSError, http.client.HTTPException, ValueError):
                connection.close()
                if known is None:
                    break
        return 0, None

    def must(self, method, path, body=None, content="application/json"):
        """Waits for a server that is away or busy; any other refusal is a fault of the script."""
        deadline = time.monotonic() + SECONDS
        while True:
            status, answer = self.ask(method, path, body, content)
            if 200 <= status < 300:
                return answer
            is_late = time.monotonic() > deadline
            if method == "POST" and status == 409 and "already exists" in str(answer):
                return answer  # an answer was lost
            if is_late or status not in (0, 409, 429, 500, 503, 504):
                raise RuntimeError(f"{method} {path}: {status} {json.dumps(answer)[:300]}")
            time.sleep(0.05)

    def create(self, path, body):
        return self.must("POST", path, body)

    def patch(self, path, body):
        return self.must("PATCH", path, body, MERGE)

    def items(self, path):
        return self.must("GET", path)["items"]

    def delete(self, path, grace=0):
        """True when it was there."""
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": grace}
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            status, _ = self.ask("DELETE", path, body)
            if status in (200, 202, 404):
                return status != 404
            time.sleep(0.05)
        return False

    def follow(self, path, version):
        """Events of a watch until it ends."""
        connection = self.connect()
        try:
            mark = "&" if "?" in path else "?"
            connection.request("GET", f"{path}{mark}watch=1&allowWatchBookmarks=true&resourceVersion={version}",
                               None, self.headers())
            answer = connection.getresponse()
            if answer.status != 200:
                yield {"type": "ERROR", "object": {"code": answer.status}}
                return
            connection.sock.settimeout(1)
            while True:
                try:
                    line = answer.readline()
                except TimeoutError:
                    yield None
                    return
                if not line:
                    return
                yield json.loads(line)
        finally:
            connection.close()


def wait_for(holds, seconds=SECONDS):
    """What it answers at last; a fault in asking is no answer."""
    deadline = time.monotonic() + seconds
    while not (answer := holds()) and time.monotonic() < deadline:
        time.sleep(0.03)
    return answer


class Claims:
    def __init__(self):
        self.good = self.bad = 0
        self.case = ""  # whose claims they are
        self.failed = []

    def check(self, what, holds, found=""):
        if holds:
            self.good += 1
            print(f"   [ok] {what}", flush=True)
        else:
            self.bad += 1
            self.failed.append(f"{self.case}: {what}, found {found}"[:400])
            print(f"   [FAILED] {what}\n     found: {found}", flush=True)
        return bool(holds)

    def same(self, what, expected, found):
        return self.check(what, expected == found, f"{found!r}, expected {expected!r}")

    def eventually(self, what, expected, found, seconds=SECONDS):
        """`found` is asked until it is `expected`, a value or a pattern of a text."""
        def matches(value):
            return re.search(expected, value or "") is not None if isinstance(expected, str) else value == expected
        last = None

        def is_so():
            nonlocal last
            last = found()
            return matches(last)
        wait_for(is_so, seconds)
        return self.check(what, matches(last), f"{last!r}, expected {expected!r}")
