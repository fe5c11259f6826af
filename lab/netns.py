"""A private network namespace: loopback only, so that nothing of a cluster can be reached from outside.

A holder process keeps it; others join it. Needs root, or unprivileged user namespaces.
"""

import ctypes
import os
import subprocess
from pathlib import Path

from lab.proc import parents, start_ticks
from lab.progress import Failed

HOLD = "ip link set lo up && echo up && exec sleep infinity"
WAYS = ((False, ["unshare", "--net"]), (True, ["unshare", "--user", "--map-root-user", "--net"]))


def inode_of(pid, kind: str = "net") -> int:
    """Which namespace of a kind a process is in, or 0."""
    try:
        return os.stat(f"/proc/{pid}/ns/{kind}").st_ino
    except OSError:
        return 0


def is_user_mapped() -> bool:
    """Whether this process is in a user namespace of somebody's making: root there is root nowhere else."""
    return Path("/proc/self/uid_map").read_text().split() != ["0", "0", str(2**32 - 1)]


def create() -> tuple:
    """Makes a namespace; answers what names it, to be kept in a file, and the holder as a child of this process."""
    said = []
    for user, prefix in WAYS:
        if not user and os.geteuid() != 0:
            continue
        holder = subprocess.Popen(
            [*prefix, "sh", "-c", HOLD],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        with holder.stdout, holder.stderr:
            if holder.stdout.readline() == b"up\n":
                ticks, inode = start_ticks(holder.pid), inode_of(holder.pid)
                # Whoever joins later comes from outside: a second namespace made from within the first needs its user.
                user = user or is_user_mapped()
                return {"pid": holder.pid, "ticks": ticks, "inode": inode, "user": user}, holder
            said.append(holder.stderr.read().decode(errors="replace").strip())
            holder.wait()
    raise Failed(
        "no private network namespace can be made here (" + "; ".join(said) + "). Run as root, or allow user "
        "namespaces: sysctl -w kernel.unprivileged_userns_clone=1 (in a container: --cap-add SYS_ADMIN)"
    )


def enter(space: dict) -> None:
    """Moves this process, and so its later children, into the namespace for good."""
    if inode_of("self") == space["inode"]:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for kind in ("user", "net") if space["user"] else ("net",):
        if inode_of("self", kind) == inode_of(space["pid"], kind):
            continue
        handle = os.open(f"/proc/{space['pid']}/ns/{kind}", os.O_RDONLY)
        try:
            if libc.setns(handle, 0) != 0:
                raise Failed(f"cannot join the cluster's {kind} namespace: {os.strerror(ctypes.get_errno())}")
        finally:
            os.close(handle)


def alive(space: dict) -> bool:
    """Whether the holder still holds it (its id may have been given to another process since)."""
    return start_ticks(space["pid"]) == space["ticks"] and inode_of(space["pid"]) == space["inode"]


def members(space: dict) -> dict:
    """Every process inside, as id to start ticks, but not this one and its ancestors."""
    tree = parents()
    own, pid = set(), os.getpid()
    while pid:
        own.add(pid)
        pid = tree.get(pid, 0)
    found = {pid: start_ticks(pid) for pid in tree if pid not in own and inode_of(pid) == space["inode"]}
    return {pid: ticks for pid, ticks in found.items() if ticks is not None}


def belongs(pid: int, directory: Path) -> bool:
    """Whether a process shows by its command line or working directory that it is of this cluster."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        return str(directory).encode() in words or os.readlink(f"/proc/{pid}/cwd").startswith(str(directory))
    except OSError:
        return False
