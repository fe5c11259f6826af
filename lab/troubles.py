"""What can happen to exchanges between a shim and the service; each is a `trouble` of a lab.relay.Relay."""

import threading
import time

STAGES = ("decision", "sending", "application", "acknowledgement")


class Lost:
    """Of four exchanges one never arrives, and the answer to another is lost."""

    def __init__(self):
        self.turn = self.hits = 0

    def __call__(self, _request, forward):
        self.turn += 1
        if self.turn % 4 == 1:
            self.hits += 1
            return None
        answer = forward()
        if self.turn % 4 == 3:
            self.hits += 1
            return None
        return answer


class Delayed:
    """Every third answer comes so late that the shim has given up waiting for it."""

    def __init__(self, seconds: float):
        self.turn, self.hits, self.seconds = 0, 0, seconds

    def __call__(self, _request, forward):
        self.turn += 1
        answer = forward()
        if self.turn % 3 == 0:
            self.hits += 1
            time.sleep(self.seconds)
        return answer


class Repeated:
    """Every request comes twice, and every third is answered with what the one before it was answered."""

    def __init__(self):
        self.turn, self.hits, self.last = 0, 0, None

    def __call__(self, _request, forward):
        self.turn += 1
        if self.turn % 3 == 0 and self.last:
            self.hits += 1
            forward()
            return self.last
        self.last = forward()
        forward()
        return self.last


class Reordered:
    """Every third request is overtaken by the one that follows it."""

    def __init__(self):
        self.turn, self.hits, self.held = 0, 0, None

    def __call__(self, _request, forward):
        self.turn += 1
        if self.turn % 3 == 0:
            self.held = forward
            return None
        answer = forward()
        if self.held:
            self.held()
            self.held = None
            self.hits += 1
        return answer


class Late:
    """The first answer with an action is held until the lease it was to bring is over."""

    def __init__(self, seconds: float):
        self.hits, self.seconds = 0, seconds

    def __call__(self, _request, forward):
        answer = forward()
        if answer and answer.said.get("actions") and not self.hits:
            self.hits += 1
            time.sleep(self.seconds)
        return answer


class Crash:
    """Once: what `kill` ends, it ends between two of a copy's steps; `decided` says whether one has been decided on."""

    def __init__(self, stage: str, kill, decided=None):
        assert stage in STAGES
        self.stage, self.kill, self.decided, self.hits = stage, kill, decided, 0

    def __call__(self, request, forward):
        if self.hits:
            return forward()
        if (self.stage == "decision" and self.decided()) or (self.stage == "acknowledgement" and request.get("acks")):
            return self.strike(None)
        answer = forward()
        if answer and answer.said.get("actions") and self.stage in ("sending", "application"):
            return self.strike(answer if self.stage == "application" else None)
        return answer

    def strike(self, answer):
        self.hits += 1
        self.kill()
        return answer


class Watched:
    """Nothing: what passes is written down. `masters` are the ApplicationMasters that spoke, one after the other,
    `attempts` the newest row of each attempt by (kind, task, number) with its host's name, and `applied` the masters
    that carried an action out, by its id; `exchanges` counts. `hello` is who spoke, `asked` the type of each action by
    its id, `since_ms` when it was first said to be applied."""

    def __init__(self):
        self.exchanges, self.hits = 0, 0
        self.masters, self.attempts, self.hosts, self.applied = [], {}, {}, {}
        self.hello, self.asked, self.since_ms = {}, {}, {}

    def __call__(self, request, forward):
        self.hear(request)
        answer = forward()
        if answer:
            self.asked.update((action["id"], action["type"]) for action in answer.said.get("actions", []))
        return answer

    def hear(self, request: dict) -> None:
        self.exchanges += 1
        self.hello.update(request.get("hello", {}))
        master = request["attempt"]
        if master not in self.masters:
            self.masters.append(master)
        self.hosts.update({(master, index): name for index, name, _ in request.get("hosts", [])})
        for row in request.get("attempts", []):
            known = self.attempts.setdefault((row["k"], row["i"], row["n"]), {})
            known.update(row)
            if "node" in row:
                known["host"] = self.hosts.get((master, row["node"]))
        for ack in request.get("acks", []):
            if ack["outcome"] in ("applied", "moved"):
                self.applied.setdefault(ack["id"], set()).add(master)
                self.since_ms.setdefault(ack["id"], time.time() * 1000)

    def beside(self, state: str) -> list:
        """Attempts in such a state whose task has an older one that runs: copies."""
        rows, oldest = sorted(self.attempts.items()), {}
        for (*task, number), row in rows:
            if row.get("s") == "RUNNING":
                oldest.setdefault(tuple(task), number)
        newer = [row for (*task, number), row in rows if number > oldest.get(tuple(task), number)]
        return [row for row in newer if row.get("s") == state]


class Held(Watched):
    """The first answer with an action is held back until it is let go."""

    LIMIT_S = 50

    def __init__(self):
        super().__init__()
        self.free = threading.Event()

    def __call__(self, request, forward):
        answer = super().__call__(request, forward)
        if answer and answer.said.get("actions") and not self.hits:
            self.hits += 1
            self.free.wait(self.LIMIT_S)
        return answer
