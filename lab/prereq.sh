# shellcheck shell=bash
# What ./dev needs from the machine: found, installed by apt when root, or named exactly.

root=${root:?prereq.sh is sourced by ./dev}

java_major() { # JDK home -> its feature version, read without starting a JVM
  sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' "$1/release" 2>/dev/null
}

find_jdk() { # a full JDK (javac) of 17 or later; 17 preferred
  local home
  for home in "${JAVA_HOME:-}" /usr/lib/jvm/*-17-* /usr/lib/jvm/*17* /usr/lib/jvm/*; do
    [ -n "$home" ] && [ -x "$home/bin/javac" ] || continue
    [ "$(java_major "$home" || echo 0)" -ge 17 ] 2>/dev/null || continue
    echo "$home"
    return
  done
}

python_fits() {
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null
}

has_package() { # whether apt has that one; of a name that others only mention it shows nothing, and is content
  [ -n "$(apt-cache show "$1" 2>/dev/null)" ]
}

jdk_package() { # 17, or the default where apt has others and no 17, as on Debian 13
  if ! has_package openjdk-17-jdk-headless && has_package default-jdk-headless; then
    echo default-jdk-headless
  else
    echo openjdk-17-jdk-headless
  fi
}

missing_packages() { # Debian package names of what is not there, one a line
  [ -n "$(find_jdk)" ] || jdk_package
  command -v mvn >/dev/null || echo maven
  command -v cc >/dev/null || printf '%s\n' gcc libc6-dev
  command -v python3 >/dev/null || echo python3
  command -v ip >/dev/null || echo iproute2
  command -v openssl >/dev/null || echo openssl
  command -v unshare >/dev/null || echo util-linux
}

install_packages() { # NAMES...; what they are is looked up again in the lists of now
  local log=$root/target/dev/logs/apt.log packages=("$@")
  mkdir -p "${log%/*}"
  echo "==> installing $* (log: target/dev/logs/apt.log)" >&2
  export DEBIAN_FRONTEND=noninteractive
  if ! {
    apt-get update && mapfile -t packages < <(missing_packages) &&
      apt-get install -y --no-install-recommends "${packages[@]}"
  } >"$log" 2>&1 </dev/null; then
    echo "./dev: apt-get could not install: ${packages[*]}; read target/dev/logs/apt.log" >&2
    exit 1
  fi
}

has_prometheus() { # promtool and the server: the machine's, or what is unpacked under target/
  PATH="$PATH:$root/target/prometheus/usr/bin" command -v promtool prometheus | grep -c . | grep -qx 2
}

uses_prometheus() { # COMMAND ARGS...: whether they ask for tests that need it, which Rust's and Java's do not
  [ "$1" = test ] || return 1
  shift
  case " $* " in
    *" --explore "*) return 1 ;;
    *" python "* | *" e2e "*) ;;
    *" rust "* | *" java "*) return 1 ;;
  esac
}

unpack_prometheus() { # the package alone: what it would install besides, a server that starts at once among it, stays away
  local log=$root/target/dev/logs/prometheus.log into=$root/target/prometheus
  mkdir -p "${log%/*}"
  echo "==> fetching promtool and prometheus (log: target/dev/logs/prometheus.log)" >&2
  ( # beside its place until it is whole: cut by a full disk or by Ctrl-C, a program is there to be found all the same
    rm -rf "$into.partial" && mkdir "$into.partial" && cd "$into.partial" || exit
    apt-get download prometheus || { [ "$(id -u)" = 0 ] && apt-get update && apt-get download prometheus; } || exit
    dpkg -x prometheus_*.deb . && rm prometheus_*.deb && rm -rf "$into" && mv "$into.partial" "$into"
  ) >"$log" 2>&1 </dev/null || true
  if ! has_prometheus; then
    echo "./dev: missing: promtool and prometheus, which check config/prometheus; read target/dev/logs/prometheus.log" >&2
    echo "       put both on the PATH, or on Debian or Ubuntu, as root, run: apt-get update; then ./dev again fetches them" >&2
    exit 1
  fi
}

check_rust() {
  local want have
  want=$(sed -n 's/^rust-version *= *"\([0-9.]*\)".*/\1/p' "$root/Cargo.toml" | head -1)
  command -v cargo >/dev/null || PATH="$HOME/.cargo/bin:$PATH"
  if ! command -v cargo >/dev/null; then
    echo "./dev: no Rust toolchain. Install rustup (https://rustup.rs), then run: rustup toolchain install stable" >&2
    exit 1
  fi
  have=$(cargo --version 2>/dev/null | sed -n 's/^cargo \([0-9.]*\).*/\1/p')
  if [ "$(printf '%s\n' "$want" "${have:-0}" | sort -V | head -1)" != "$want" ]; then
    echo "./dev: cargo ${have:-of unknown version} is older than the $want that Cargo.toml asks for. Run: rustup update stable" >&2
    exit 1
  fi
}

prereq() { # COMMAND ARGS...
  local packages
  mapfile -t packages < <(missing_packages)
  if [ "${#packages[@]}" -gt 0 ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
      install_packages "${packages[@]}"
    else
      echo "./dev: missing: ${packages[*]}" >&2
      echo "       as root on Debian or Ubuntu: apt-get update && apt-get install -y ${packages[*]}" >&2
      exit 1
    fi
  fi
  if ! python_fits; then
    echo "./dev: python3 must be 3.9 or later, this one is $(python3 -V 2>&1)" >&2
    exit 1
  fi
  JAVA_HOME=$(find_jdk)
  if [ -z "$JAVA_HOME" ]; then
    echo "./dev: no JDK 17 or later with javac; set JAVA_HOME to one" >&2
    exit 1
  fi
  export JAVA_HOME
  ! uses_prometheus "$@" || has_prometheus || unpack_prometheus
  [ "$1" = cluster ] || check_rust
}
