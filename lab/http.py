"""Small HTTP requests from inside the cluster's network."""

import json
import urllib.error
import urllib.request

# A machine that is busy stands still for seconds.
TIMEOUT_S = 30
SAID_LIMIT = 300
# No proxy of the environment: everything asked here is on loopback.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Unanswered(Exception):
    """No answer, or not a good one."""


def get(url: str, accept: str = "application/json", timeout_s: float = TIMEOUT_S) -> str:
    request = urllib.request.Request(url, headers={"Accept": accept})
    try:
        with OPENER.open(request, timeout=timeout_s) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as refusal:
        said = refusal.read(SAID_LIMIT).decode(errors="replace").strip()
        raise Unanswered(f"{url}: {refusal.code}: {said}") from refusal
    except (OSError, ValueError) as fault:
        raise Unanswered(f"{url}: {fault}") from fault


def post(url: str, body: str, kind: str = "application/json") -> None:
    request = urllib.request.Request(url, body.encode(), {"Content-Type": kind})
    try:
        with OPENER.open(request, timeout=TIMEOUT_S):
            pass
    except urllib.error.HTTPError as refusal:
        said = refusal.read(SAID_LIMIT).decode(errors="replace").strip()
        raise Unanswered(f"{url}: {refusal.code}: {said}") from refusal
    except OSError as fault:
        raise Unanswered(f"{url}: {fault}") from fault


def listed(value) -> list:
    """A list as Hadoop writes it: absent or null where empty; in 3.5.0 without its brackets where it holds one."""
    return [value] if isinstance(value, dict) else value or []


def get_json(url: str, timeout_s: float = TIMEOUT_S):
    text = get(url, timeout_s=timeout_s)
    try:
        return json.loads(text)
    except ValueError:
        raise Unanswered(f"{url}: not JSON: {text[:80]!r}") from None
