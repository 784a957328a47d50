# Signet: fingerprint login that proves itself. `make` lists what there is.

PREFIX ?= /usr/local
DESTDIR ?=
TRIPLET := $(shell cc -print-multiarch 2>/dev/null || dpkg-architecture -qDEB_HOST_MULTIARCH)
PAMDIR ?= /usr/lib/$(TRIPLET)/security
SYSTEMDDIR ?= /usr/lib/systemd/system
LIBEXEC = $(PREFIX)/libexec/signet
# Module and command look in these two and nowhere else: `Catalogue.directories`.
LOCALEDIR = $(if $(filter /usr /usr/local,$(PREFIX)),$(PREFIX),/usr)/share/locale
LANGUAGES = $(basename $(notdir $(wildcard po/*.po)))

SWIFT ?= $(shell command -v swift)
# The toolchain leaves temporary directories behind: not in /tmp.
SWIFT_BUILD = mkdir -p .build/tmp && TMPDIR=$(CURDIR)/.build/tmp $(SWIFT) build
AS_ROOT := $(if $(filter-out 0,$(shell id -u)),sudo)
RUN_TESTS = $(AS_ROOT) env SWIFT=$(SWIFT) Tests/run
RELEASE = $(SWIFT_BUILD) -c release --static-swift-stdlib --scratch-path .build-release
MODULE = $(SWIFT_BUILD) -c release --scratch-path .build-module \
	--product pam_signet --disable-local-rpath
PROGRAMS = signetd signet verify-password testbench
TESTBENCH = build/testbench

BUILD_DEBS = binutils gcc gettext libc6-dev libfprint-2-dev libglib2.0-dev libgusb-dev libpam0g-dev \
	libssl-dev libsystemd-dev libtss2-dev make pkg-config
TEST_DEBS = bsdutils dbus-bin dbus-daemon gnome-keyring hostname libpam-gnome-keyring \
	libpam-kwallet5 libpam-modules libpam-runtime libsecret-tools login mount openssh-client \
	openssl pamtester passwd sudo swtpm util-linux
CHECK_DEBS = perl-base strace systemd
# The peer that is measured is unpacked and not installed: see Benchmarks/prepare.sh.
BENCH_DEBS = dbus-bin dbus-daemon valgrind

.DEFAULT_GOAL := help
.PHONY: help deps build module programs catalogues demo test check format-check graph-check \
	bench fuzz pot install uninstall clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s%s\n", $$1, $$2 }' Makefile

deps: ## install what is needed from Debian; does nothing where all is there
	@checks/packages $(BUILD_DEBS) $(TEST_DEBS)
	@$(AS_ROOT) Tests/Stage/programs .build/programs

build: deps module programs catalogues ## build what is installed, into build/

module:
	$(MODULE)
	@mkdir -p build
	strip -o build/pam_signet.so .build-module/release/libpam_signet.so

programs:
	$(RELEASE)
	@mkdir -p build
	for program in $(PROGRAMS); do \
		strip -o build/$$program .build-release/release/$$program || exit 1; \
	done

catalogues:
	for language in $(LANGUAGES); do \
		install -d build/locale/$$language/LC_MESSAGES \
			&& msgfmt --check --endianness=little po/$$language.po \
				-o build/locale/$$language/LC_MESSAGES/signet.mo || exit 1; \
	done

demo: build ## watch real sudo being let in by a touch, and refused
	@test -z "$(AS_ROOT)" || echo "root is needed, for mounts of its own: sudo may want your password"
	$(AS_ROOT) $(TESTBENCH) demo

test: deps module ## run all tests (as root: they need mounts of their own)
	$(SWIFT_BUILD) --build-tests
	$(RUN_TESTS)

check: build format-check graph-check ## everything that must be clean before a change lands
	@checks/packages $(CHECK_DEBS)
	checks/module build/pam_signet.so
	$(AS_ROOT) checks/units
	$(AS_ROOT) checks/stacks
	$(AS_ROOT) checks/system-calls
	checks/install
	checks/security
	checks/languages
	$(SWIFT_BUILD) --build-tests
	$(RUN_TESTS)
	$(SWIFT_BUILD) -c release --build-tests -Xswiftc -enable-testing
	$(RUN_TESTS) -c release

format-check:
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests \
		$(wildcard Benchmarks)

graph-check:
	checks/imports
	$(SWIFT_BUILD) --build-tests --explicit-target-dependency-import-check error

bench: build ## measure, side by side with pam_fprintd and fprintd
	@checks/packages $(BENCH_DEBS)
	$(AS_ROOT) Benchmarks/run

fuzz: deps ## feed each decoder with garbage for a minute (SECONDS=…)
	SECONDS_EACH=$(or $(SECONDS),60) Tests/Fuzz/run

# What is new in the sources is then untranslated, what has changed is fuzzy: docs/LANGUAGES.md
pot: deps ## put the texts of the sources into po/signet.pot and po/*.po, for translators
	checks/packages $(CHECK_DEBS)
	po/extract > po/signet.pot
	for language in $(LANGUAGES); do \
		msgmerge --quiet --update --backup=none --add-location=file --no-wrap \
			po/$$language.po po/signet.pot || exit 1; \
	done

install: ## install what was built (DESTDIR, PREFIX, PAMDIR, SYSTEMDDIR)
	@test -e build/signetd || { echo "nothing is built: run 'make build' first" >&2; exit 1; }
	install -D -m 755 build/signetd $(DESTDIR)$(LIBEXEC)/signetd
	install -D -m 755 build/verify-password $(DESTDIR)$(LIBEXEC)/verify-password
	install -D -m 755 build/signet $(DESTDIR)$(PREFIX)/bin/signet
	install -D -m 644 build/pam_signet.so $(DESTDIR)$(PAMDIR)/pam_signet.so
	for language in $(LANGUAGES); do \
		install -D -m 644 build/locale/$$language/LC_MESSAGES/signet.mo \
			$(DESTDIR)$(LOCALEDIR)/$$language/LC_MESSAGES/signet.mo || exit 1; \
	done
	install -D -m 644 systemd/signetd.socket $(DESTDIR)$(SYSTEMDDIR)/signetd.socket
	install -d $(DESTDIR)$(SYSTEMDDIR)
	sed 's,@LIBEXEC@,$(LIBEXEC),' systemd/signetd.service.in \
		> $(DESTDIR)$(SYSTEMDDIR)/signetd.service
	chmod 644 $(DESTDIR)$(SYSTEMDDIR)/signetd.service
	install -D -m 644 systemd/signet.sysusers $(DESTDIR)/usr/lib/sysusers.d/signet.conf
	install -D -m 644 pam/signet.pam-auth-update $(DESTDIR)/usr/share/pam-configs/signet
	install -d $(DESTDIR)$(PREFIX)/share/doc/signet/examples
	install -m 644 pam/examples/* $(DESTDIR)$(PREFIX)/share/doc/signet/examples
	for document in README.md SECURITY.md docs/*.md; do \
		test ! -e $$document \
			|| install -m 644 $$document $(DESTDIR)$(PREFIX)/share/doc/signet || exit 1; \
	done
	@if test -e $(DESTDIR)/etc/pam.d/signet; then \
		cmp -s pam/signet $(DESTDIR)/etc/pam.d/signet \
			|| echo "kept your own /etc/pam.d/signet; compare it with pam/signet"; \
	else \
		install -D -m 644 pam/signet $(DESTDIR)/etc/pam.d/signet; \
	fi
	@if test -z "$(DESTDIR)" && test -d /run/systemd/system; then \
		systemd-sysusers signet.conf && systemctl daemon-reload; \
	fi
	@echo "next: systemctl enable --now signetd.socket; signet enroll; pam-auth-update"

# The profile leaves common-auth before the module goes. State in /var/lib/signet stays.
uninstall: ## take it all away again, but not state and not files you edited
	@if test -z "$(DESTDIR)" && test -e /usr/share/pam-configs/signet; then \
		pam-auth-update --package --remove signet; \
	fi
	@if test -z "$(DESTDIR)" && test -d /run/systemd/system; then \
		systemctl disable --now signetd.socket signetd.service || true; \
	fi
	rm -f $(DESTDIR)/usr/share/pam-configs/signet $(DESTDIR)$(PAMDIR)/pam_signet.so
	rm -f $(DESTDIR)$(SYSTEMDDIR)/signetd.socket $(DESTDIR)$(SYSTEMDDIR)/signetd.service
	rm -f $(DESTDIR)/usr/lib/sysusers.d/signet.conf $(DESTDIR)$(PREFIX)/bin/signet
	rm -f $(DESTDIR)$(LOCALEDIR)/*/LC_MESSAGES/signet.mo
	rm -rf $(DESTDIR)$(LIBEXEC) $(DESTDIR)$(PREFIX)/share/doc/signet
	@if cmp -s pam/signet $(DESTDIR)/etc/pam.d/signet; then \
		rm -f $(DESTDIR)/etc/pam.d/signet; \
	elif test -e $(DESTDIR)/etc/pam.d/signet; then \
		echo "kept your own /etc/pam.d/signet"; \
	fi
	@if test -z "$(DESTDIR)" && test -d /run/systemd/system; then systemctl daemon-reload; fi

clean: ## remove all that was built
	rm -rf .build .build-release .build-module build
