#!/usr/bin/env bash
# setup.sh - Gradescope calls it once, as root, when it makes the autograder's image.
#
# It unpacks weft and builds it with all that it needs: packages of Ubuntu (22.04 or newer), the C library, the
# kernel, the Python environment.  A failure here ends the making of the image, and is shown to the lecturer.
set -euo pipefail
top=${AUTOGRADER:-/autograder}

export DEBIAN_FRONTEND=noninteractive
apt-get -q update
apt-get -q install -y --no-install-recommends ca-certificates make python3 python3-venv
mkdir -p "$top"
tar -xzf "$top/source/weft.tar.gz" -C "$top"
cd "$top/weft"
tools/setup.sh
make -j"$(nproc)"
tools/weft setup grade
