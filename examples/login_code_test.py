# Tests a login with pytest: the code that a customer gets by SMS is read from the outbox of `urtuu serve`.
# Needs `urtuu` on the PATH. Run it with: pytest login_code_test.py
import json
import os
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest


class Api:
    def __init__(self, base_url, key):
        self.base_url = base_url
        self.key = key

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base_url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


# The program under test. In production it gets another base URL and key, and sends to real people.
class Login:
    def __init__(self, api):
        self.api = api

    def send_code(self, phone):
        status, verification = self.api.call("POST", "/verify", {"to": phone})
        assert status == 201, verification
        return verification["id"]

    def is_right(self, login, code):
        status, _ = self.api.call("POST", f"/verify/{login}/check", {"code": code})
        return status == 200


@pytest.fixture(scope="session")
def api(tmp_path_factory):
    """A service of this run alone: nothing that it sends leaves the machine."""
    key = subprocess.check_output(["urtuu", "keys", "example"], text=True).strip()
    data = tmp_path_factory.mktemp("urtuu") / "data"
    service = subprocess.Popen(
        ["urtuu", "serve", "--port", "0", "--data", str(data), "--drain-time", "0", "-o", "ndjson", "--quiet"],
        env={**os.environ, "URTUU_SANDBOX_KEY": key},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Api(json.loads(service.stdout.readline())["base_url"], key)
    finally:
        service.terminate()
        service.wait()
        service.stdout.close()


def message_to(api, phone, after=None):
    """The newest message to a number; with `after`, the first that came after that one. Waits up to 10 seconds."""
    query = {"to": phone, "limit": 1} if after is None else {"to": phone, "limit": 1, "after": after}
    for _ in range(50):
        status, outbox = api.call("GET", "/outbox?" + urllib.parse.urlencode(query))
        assert status == 200, outbox
        if outbox["data"]:
            return outbox["data"][0]
        time.sleep(0.2)
    pytest.fail(f"no message to {phone}")


def test_a_customer_logs_in_with_the_code(api):
    login = Login(api)
    started = login.send_code("8811-2233")
    message = message_to(api, "88112233")
    assert message["code"] in message["text"]
    wrong = message["code"][:-1] + ("1" if message["code"][-1] == "0" else "0")
    assert not login.is_right(started, wrong)
    assert login.is_right(started, message["code"])
    assert not login.is_right(started, message["code"]), "a code is good once"


def test_each_login_has_its_own_code(api):
    login = Login(api)
    login.send_code("9911-2233")
    first = message_to(api, "99112233")
    again = login.send_code("9911-2233")
    second = message_to(api, "99112233", after=first["message_id"])
    assert login.is_right(again, second["code"])
