# SPDX-License-Identifier: Apache-2.0
# What is needed from Debian, job by job, and how the Debian packages are made.
# More programs are unpacked and not installed: see Tests/HostFixture/programs.
BUILD_DEBS = binutils gcc gettext libc6-dev libcurl4-openssl-dev libfprint-2-dev libglib2.0-dev \
	libgnutls28-dev libgusb-dev libmicrohttpd-dev libpam0g-dev libpq-dev libsqlite3-dev libssl-dev \
	libsystemd-dev libtss2-dev make pkg-config
TEST_DEBS = bsdutils curl dbus-bin dbus-daemon fish git gnome-keyring golang-go \
	golang-golang-x-crypto-dev hostname iproute2 \
	libpam-gnome-keyring libpam-kwallet5 libpam-modules libpam-runtime libsecret-tools login \
	mount openssh-client openssl pamtester \
	passwd perl-base python3-asyncssh python3-jwt python3-paramiko python3-venv sudo swtpm swtpm-tools tpm2-tools util-linux zsh
# What Debian lacks and only tests need, from PyPI.
JUDGES = Tests/HostFixture/judges .build/judges
# Not for the demo: they are large.
BROWSER_DEBS = chromium chromium-driver
CHECK_DEBS = apparmor debootstrap man-db mandoc node-typescript nodejs openssl python3 \
	python3-setuptools python3-venv python3-wheel python3-yaml strace systemd
# What dpkg-buildpackage needs besides BUILD_DEBS (debian/control lists everything), and lintian.
DEB_DEBS = debhelper dh-apparmor dpkg-dev lintian systemd
# What a whole machine needs, and what makes its disk: docs/contributor/MACHINE-TEST.md.
MACHINE_DEBS = e2fsprogs gcc libc6-dev libusbredirparser-dev mmdebstrap openssl python3 \
	qemu-system-common qemu-system-x86 seabios swtpm util-linux
# What fprintd's own suite needs: docs/contributor/FPRINTD-TEST.md.
FPRINTD_DEBS = dbus-daemon gir1.2-fprint-2.0 libglib2.0-bin python3-cairo python3-dbusmock python3-gi \
	python3-gi-cairo util-linux
# What makes and enters a Debian with desktops: docs/contributor/DESKTOP-TEST.md.
DESKTOP_DEBS = debootstrap python3 util-linux
# The software to compare with is unpacked and not installed: see Benchmarks/prepare.sh.
BENCH_DEBS = dbus-bin dbus-daemon openssl valgrind

VERSION = $(shell sed -n 's/.*let text = "\(.*\)"/\1/p' Sources/Device/Configuration/Version.swift)
TREE = build/deb/signet-$(VERSION)

# A copy of the sources: what git tracks, and nothing that happens to lie beside it. Where there is no
# git, this is a source package already.
source-tree:
	mkdir -p $(TREE)
	if test -e .git; then git ls-files -z; \
		else find . ! -type d ! -path './build/*' ! -path './.build*' ! -name '*.pyc' -print0; fi > $(TREE).files
	tar -c --null --no-recursion --files-from=$(TREE).files -f $(TREE).tar
	tar -x -C $(TREE) -f $(TREE).tar
	rm $(TREE).files $(TREE).tar

# The packages are built in that copy, beside which dpkg-buildpackage leaves them. Nothing is compiled
# twice: build/ is used as it is.
deb: build
	@checks/packages $(DEB_DEBS)
	rm -rf build/deb
	@$(MAKE) --no-print-directory source-tree
	cd $(TREE) && SIGNET_BUILT=$(CURDIR)/build dpkg-buildpackage -us -uc
	rm -rf $(TREE)
	@ls build/deb/*.deb

deb-test: deb
	@checks/packages $(CHECK_DEBS)
	checks/source-package
	lintian --info --display-experimental --pedantic --fail-on error,warning \
		build/deb/signet_*.changes
	$(AS_ROOT) checks/package
