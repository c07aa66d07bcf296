"""One of the two servers: asked over HTTP, and by kubectl."""
import http.client
import json
import os
import pathlib
import re
import ssl
import sys
import subprocess
import time
import urllib.parse

from . import normal

HEADERS = ("Content-Type", "Warning", "Retry-After", "Allow", "Location")
SECONDS = 120  # a guard against hanging
SILENCE = 3  # of a watch that has no more to say


class Server:
    def __init__(self, name, kubeconfig, folder, kubectl):
        self.name = name
        self.kubeconfig = pathlib.Path(kubeconfig)
        self.folder = pathlib.Path(folder)
        self.kubectl = kubectl
        text = self.kubeconfig.read_text()
        self.url = re.search(r"https://[\w.:]+", text).group(0)
        self.host = self.url.removeprefix("https://")
        self.token = re.search(r"token\"?: \"?(\w+)", text).group(1)
        authority = re.search(r"certificate-authority: (\S+)", text)
        self.tls = ssl.create_default_context(cafile=authority.group(1) if authority else None)
        data = re.search(r"certificate-authority-data\": \"([^\"]+)", text)
        if data:
            import base64
            self.tls.load_verify_locations(cadata=base64.b64decode(data.group(1)).decode())
        self.connection = None
        self.saved = {}

    def fill(self, text):
        return re.sub(r"\{\{(\w+)\}\}", lambda match: self.saved.get(match.group(1), match.group(0)), text)

    def keep(self, step, body):
        for name, place in step.save.items():
            value = body
            for part in re.findall(r"[^.\[\]]+", place):
                if isinstance(value, list):
                    value = value[int(part)] if int(part) < len(value) else None
                else:
                    value = value.get(part) if isinstance(value, dict) else None
            self.saved[name] = str(value)

    # --- HTTP

    def open(self):
        return http.client.HTTPSConnection(self.host, context=self.tls, timeout=SECONDS)

    def request(self, step):
        path = urllib.parse.quote(self.fill(step.path), safe="/?&=%:~+,;@!*()$")
        headers = {"Authorization": f"Bearer {self.token}", "User-Agent": "difference/1", "Accept": "application/json"}
        headers |= step.headers
        body = self.fill(step.body).encode() or None
        if step.events:
            return self.follow(step, path, headers)
        for attempt in range(2):
            try:
                self.connection = self.connection or self.open()
                self.connection.request(step.method, path, body, headers)
                answer = self.connection.getresponse()
                text = answer.read().decode(errors="replace")
                if answer.getheader("Connection", "") == "close":
                    self.connection = None
                return answer, text
            except (OSError, http.client.HTTPException):
                self.connection = None
                if attempt:
                    raise

    def follow(self, step, path, headers):
        connection = self.open()
        try:
            connection.request(step.method, path, None, headers)
            answer = connection.getresponse()
            if answer.status != 200:
                return answer, answer.read().decode(errors="replace")
            lines = []
            connection.sock.settimeout(SILENCE)
            try:
                while len(lines) != step.events and (line := answer.readline()):
                    lines.append(json.loads(line))
            except TimeoutError:
                pass  # fewer than were expected: the other server says so too, or it is a difference
            return answer, json.dumps({"lines": lines})
        finally:
            connection.close()

    def ask_http(self, step):
        answer, text = self.request(step)
        try:
            self.keep(step, json.loads(text))
        except ValueError:
            pass
        headers = {}
        for name in HEADERS:
            values = answer.headers.get_all(name)
            if values:
                headers[name] = [normal.normal_text(one, self) for one in values]
        body = normal.normal_body(text, answer.getheader("Content-Type", ""), self)
        return {"status": answer.status, "headers": headers, "body": body}

    # --- kubectl

    def ask_kubectl(self, step):
        environment = {"HOME": str(self.folder), "PATH": os.environ["PATH"], "TZ": "UTC", "KUBECONFIG": str(self.kubeconfig)}
        environment |= step.environment
        arguments = [self.fill(one) for one in step.arguments]
        done = subprocess.run(
            [self.kubectl, f"--cache-dir={self.folder}/cache", *arguments], input=self.fill(step.body), text=True,
            capture_output=True, env=environment, timeout=SECONDS, cwd=self.folder)
        try:
            self.keep(step, json.loads(done.stdout))
        except ValueError:
            pass
        return {"exit": done.returncode, "stdout": normal.normal_output(done.stdout, self),
                "stderr": normal.normal_output(done.stderr, self)}

    def ask(self, step):
        started = time.monotonic()
        out = self.answer(step)
        if time.monotonic() - started > 2 and "LAB_DIFFERENCE_SLOW" in os.environ:
            print(f"{self.name} {time.monotonic() - started:.1f} s: {step.name}", file=sys.stderr, flush=True)
        return out

    def answer(self, step):
        try:
            out = self.ask_http(step) if step.method else self.ask_kubectl(step)
            deadline = time.monotonic() + 10
            while step.until and out["status"] != step.until and time.monotonic() < deadline:
                time.sleep(0.05)
                out = self.ask_http(step)
        except (OSError, http.client.HTTPException, subprocess.SubprocessError, ValueError) as wrong:
            return {"failed": f"{self.name}: {type(wrong).__name__}: {wrong}"}
        if step.only and isinstance(out.get("body"), dict):
            out["body"] = {place: normal_at(out["body"], place) for place in step.only}
        if step.view:
            for part in ("body", "stdout"):
                if part in out:
                    try:
                        out[part] = step.view(out[part])
                    except (AttributeError, KeyError, TypeError):
                        pass  # an answer of another shape is compared as it is
        return out


def normal_at(body, place):
    for part in place.split("."):
        body = body.get(part) if isinstance(body, dict) else None
    return body
