#!/bin/sh
# Compiles the shim against each supported line of Hadoop; the jar itself is built against the
# version named in pom.xml. Usage: compile-all.sh [VERSION...]
set -eu
cd "$(dirname "$0")"
for version in "${@:-2.7.7 2.10.2 3.1.4 3.3.6 3.5.0}"; do
  for hadoop in $version; do
    printf 'hadoop %-8s ' "$hadoop"
    log="target/compile-$hadoop.log"
    mkdir -p target
    if mvn -q -B -ntp -C clean compile -Dhadoop.version="$hadoop" \
      -Dshim.build="$PWD/target/hadoop-$hadoop" >"$log" 2>&1; then
      echo compiles
    else
      echo "does not compile, see jvm-shim/$log"
      exit 1
    fi
  done
done
