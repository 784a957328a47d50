#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prepare.sh DIRECTORY: puts there what the bench needs: Debian's fprintd, its PAM module and
# polkit, unpacked but not installed, and the C programs. Does nothing that is done already.
set -eu
directory=$1
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$directory"
cd "$directory"

if [ ! -e peer/usr/lib/polkit-1/polkitd ]; then
    mkdir -p packages
    (cd packages && apt-get -q -o APT::Sandbox::User=root download \
        fprintd libpam-fprintd polkitd libpolkit-gobject-1-0 libduktape207)
    for package in packages/*.deb; do dpkg -x "$package" peer; done
fi
cc -std=c17 -O2 -Wall -Wextra -Werror -o probe "$here/probe.c" -lpam
cc -std=c17 -O2 -Wall -Wextra -Werror -o on-demand "$here/on-demand.c"
cc -std=c17 -O2 -Wall -Wextra -Werror -o bus-services "$here/bus-services.c" -lsystemd
cc -std=c17 -O2 -Wall -Wextra -Werror -o desktop-floor "$here/desktop-floor.c" -lsystemd
# shellcheck disable=SC2046 # flags are words
cc -std=c17 -O2 -Wall -Wextra -Werror -o desktop-probe "$here/desktop-probe.c" \
    $(pkg-config --cflags --libs gio-2.0)
# Not the one of Swift's build, which wants Swift's library.
cc -std=gnu17 -O2 -Wall -Wextra -Werror -shared -fPIC -I "$here/../Tests/PlayedUSB/include" \
    -o libplayedusb.so "$here"/../Tests/PlayedUSB/*.c -lpthread
# shellcheck disable=SC2046 # flags are words
cc -std=c17 -O2 -Wall -Wextra -Werror -o floor "$here/floor.c" \
    $(pkg-config --cflags --libs libfprint-2 gio-2.0 libcrypto)
# shellcheck disable=SC2046 # flags are words
cc -std=c17 -O2 -Wall -Wextra -Werror -o tpm-floor "$here/tpm-floor.c" \
    $(pkg-config --cflags --libs tss2-esys tss2-tctildr)
