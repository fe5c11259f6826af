"""Orders of the service that say to the shim something else: a `trouble` of a lab.relay.Relay."""

import hashlib
import hmac
import json
from dataclasses import replace

from lab.troubles import Watched


class Reworded(Watched):
    """Orders say what is to be seen within a short job: machines are avoided for `avoid_ms` only, and copies that ask
    for no host ask for some of `hosts` that they are not to avoid, one a copy. They are signed anew with the session's
    key, which the shim's first request tells. `sent` are the orders as the shim has them, by their ids."""

    def __init__(self, avoid_ms: int, hosts: list):
        super().__init__()
        self.avoid_ms, self.choice, self.sent = avoid_ms, hosts, {}

    def __call__(self, request, forward):
        answer = super().__call__(request, forward)
        said = answer.said if answer else {}
        if not said.get("actions"):
            return answer
        for action in said["actions"]:
            self.reword(action)
            self.sent[action["id"]] = action
        body = json.dumps(said).encode()
        mac = hmac.new(bytes.fromhex(self.hello["key"]), body, hashlib.sha256).hexdigest()
        return replace(answer, mac=mac, body=body)

    def reword(self, action: dict) -> None:
        self.hits += 1
        if action["type"] == "avoid":
            action["for_ms"] = self.avoid_ms
        elif action["type"] == "duplicate":
            hosts = action.get("prefer") or [host for host in self.choice if host not in action["avoid"]]
            action["prefer"] = hosts[: action["copies"]]

    def carried_out(self, kind: str) -> list:
        """Orders of that type which the shim has carried out."""
        return [action for id, action in self.sent.items() if action["type"] == kind and id in self.applied]
