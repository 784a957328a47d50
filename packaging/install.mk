# SPDX-License-Identifier: Apache-2.0
# What is installed where, in one place: mode:file here:file there. `install`, `uninstall` and the
# Debian packages use this list. In a file that ends in .in, @LIBEXEC@ and @BINDIR@ are
# filled in.
under = $(foreach file,$(wildcard $(1)),644:$(file):$(2)/$(notdir $(file)))
INSTALLED = \
	755:build/signetd:$(LIBEXEC)/signetd \
	755:build/signet-reader:$(LIBEXEC)/signet-reader \
	755:build/signet-relay:$(LIBEXEC)/signet-relay \
	755:build/verify-password:$(LIBEXEC)/verify-password \
	755:build/signet-notify:$(LIBEXEC)/signet-notify \
	755:build/signet:$(PREFIX)/bin/signet \
	755:build/signet-agent:$(PREFIX)/bin/signet-agent \
	755:build/signet-server:$(PREFIX)/bin/signet-server \
	644:build/pam_signet.so:$(PAMDIR)/pam_signet.so \
	644:build/libsk-signet.so:$(SKDIR)/libsk-signet.so \
	644:systemd/signetd.socket:$(SYSTEMDDIR)/signetd.socket \
	644:systemd/signetd.service.in:$(SYSTEMDDIR)/signetd.service \
	644:systemd/signet-reader.socket:$(SYSTEMDDIR)/signet-reader.socket \
	644:systemd/signet-reader.service.in:$(SYSTEMDDIR)/signet-reader.service \
	644:packaging/udev/73-signet-reader.rules:/usr/lib/udev/rules.d/73-signet-reader.rules \
	644:systemd/signet-relay.socket:$(SYSTEMDDIR)/signet-relay.socket \
	644:systemd/signet-relay.service.in:$(SYSTEMDDIR)/signet-relay.service \
	644:systemd/signet.sysusers:/usr/lib/sysusers.d/signet.conf \
	644:systemd/signet-server.service.in:$(SYSTEMDDIR)/signet-server.service \
	644:systemd/signet-server.sysusers:/usr/lib/sysusers.d/signet-server.conf \
	644:pam/signet.pam-auth-update:/usr/share/pam-configs/signet \
	$(call under,README.md ARCHITECTURE.md CHANGELOG.md SECURITY.md,$(DOCDIR)) \
	$(call under,docs/screen.svg,$(DOCDIR)/docs) \
	$(call under,docs/admin/*.md,$(DOCDIR)/docs/admin) \
	$(call under,docs/admin/desktops/*.png,$(DOCDIR)/docs/admin/desktops) \
	$(call under,docs/developer/*,$(DOCDIR)/docs/developer) \
	$(call under,docs/contributor/*,$(DOCDIR)/docs/contributor) \
	$(call under,pam/examples/*,$(DOCDIR)/examples) \
	$(call under,Examples/device.py,$(SERVER_DOCDIR)/examples) \
	$(foreach section,1 5 8,$\
		$(call under,$(filter-out $(DESKTOP_MANUALS),$(wildcard docs/man/*.$(section))),$\
		$(PREFIX)/share/man/man$(section))) \
	$(patsubst %.bash,%,\
		$(call under,packaging/completions/*.bash,$(PREFIX)/share/bash-completion/completions)) \
	$(call under,packaging/completions/_*,$(ZSHDIR)) \
	$(call under,packaging/completions/*.fish,$(PREFIX)/share/fish/vendor_completions.d) \
	$(foreach language,$(LANGUAGES),644:build/locale/$(language)/LC_MESSAGES/signet.mo:$\
		$(LOCALEDIR)/$(language)/LC_MESSAGES/signet.mo) \
	$(patsubst %.in,%,$(call under,systemd/user/*,/usr/lib/systemd/user)) \
	$(call under,packaging/dbus/*.conf,/usr/share/dbus-1/system.d) \
	$(if $(or $(DESTDIR),$(DESKTOP),$(wildcard $(LIBEXEC)/signet-fprint)),$(DESKTOP_FILES)) \
	$(if $(or $(DESTDIR),$(wildcard /usr/share/authselect)),\
		$(call under,packaging/authselect/*,/usr/share/authselect/vendor/signet))
# These replace fprintd's, so they are installed on request: make install DESKTOP=yes. Packages have
# them in a package of their own.
DESKTOP_MANUALS = docs/man/fprintd.1 docs/man/pam_fprintd.8
DESKTOP_FILES = \
	755:build/signet-fprint:$(LIBEXEC)/signet-fprint \
	755:build/fprintd-client:$(LIBEXEC)/fprintd-client \
	$(foreach command,enroll verify list delete,$\
		755:packaging/desktop/fprintd-$(command).in:$(PREFIX)/bin/fprintd-$(command)) \
	644:build/pam_fprintd.so:$(PAMDIR)/pam_fprintd.so \
	644:pam/signet-fprint.pam-auth-update:/usr/share/pam-configs/signet-fprint \
	$(call under,docs/man/fprintd.1,$(PREFIX)/share/man/man1) \
	$(call under,docs/man/pam_fprintd.8,$(PREFIX)/share/man/man8) \
	644:systemd/signet-fprint.service.in:$(SYSTEMDDIR)/signet-fprint.service \
	644:systemd/signet-fprint.sysusers:/usr/lib/sysusers.d/signet-fprint.conf \
	$(call under,packaging/desktop/*.conf,/usr/share/dbus-1/system.d) \
	$(call under,packaging/desktop/*.service,/usr/share/dbus-1/system-services) \
	$(call under,packaging/desktop/*.policy,/usr/share/polkit-1/actions)
# These belong to the administrator once installed: edited ones are left alone.
CONFIGURATION = \
	644:pam/signet:/etc/pam.d/signet \
	755:debian/userdel:/etc/shadow-maint/userdel-post.d/signet \
	644:packaging/server/server.conf:/etc/signet/server.conf \
	$(if $(or $(DESTDIR),$(wildcard /etc/apparmor.d)),\
		644:packaging/apparmor/signetd.in:/etc/apparmor.d/signetd \
		644:packaging/apparmor/signet-reader.in:/etc/apparmor.d/signet-reader)

# Makes $$1 of $$2 as it is installed: "755:here:there" is in $$mode, $$file and $$place.
EACH = set -eu; umask 022; filled=$$(mktemp); trap 'rm -f $$filled' EXIT; \
	split() { \
		mode=$${1%%:*}; place=$(DESTDIR)$${1\#\#*:}; file=$${1\#*:}; file=$${file%:*}; \
	}; \
	fill() { \
		case $$file in \
			*.in) sed 's,@LIBEXEC@,$(LIBEXEC),g; s,@BINDIR@,$(PREFIX)/bin,g' $$file > $$filled ;; \
			*) cat $$file > $$filled ;; \
		esac; \
	}

# Says which package a file belongs to; checks/install plays it.
DPKG_QUERY = dpkg-query
# Files that both fprintd's packages and DESKTOP=yes install. The module's place is the one with or
# without /usr, whichever the package names.
FPRINTD_FILES = '*/security/pam_fprintd.so' /usr/share/dbus-1/system-services/net.reactivated.Fprint.service

# dpkg and this would overwrite each other's files.
without-fprintd:
	@if test -z "$(DESTDIR)" && test -n "$(filter $(LIBEXEC)/signet-fprint,$(subst :, ,$(INSTALLED)))"; then \
		owners=$$($(DPKG_QUERY) --search $(FPRINTD_FILES) 2> /dev/null | sed 's/[:,].*//' | sort -u); \
		if test -n "$$owners"; then \
			echo "fprintd is installed as a package: run 'apt remove" $$owners"' first" >&2; \
			exit 1; \
		fi; \
	fi

install: without-fprintd
	@test -e build/signetd || { echo "nothing is built: run 'make build' first" >&2; exit 1; }
	@$(EACH); for entry in $(INSTALLED); do \
		split $$entry; fill; install -D -m $$mode $$filled $$place; \
	done
	@$(EACH); for entry in $(CONFIGURATION); do \
		split $$entry; fill; \
		if ! test -e $$place; then install -D -m $$mode $$filled $$place; \
		elif ! cmp -s $$filled $$place; then \
			echo "kept your own $${place#$(DESTDIR)}; compare it with $$file"; \
		fi; \
	done
	@if test -z "$(DESTDIR)"; then \
		if test -d /run/systemd/system; then \
			systemd-sysusers signet.conf signet-server.conf; \
			test ! -e /usr/lib/sysusers.d/signet-fprint.conf || systemd-sysusers signet-fprint.conf; \
			systemctl daemon-reload; \
			busctl --quiet call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus \
				ReloadConfig || true; \
			systemctl try-restart signet-reader.service signetd.service signet-relay.service \
				signet-server.service signet-fprint.service; \
		fi; \
		if command -v udevadm > /dev/null && test -e /run/udev/control; then \
			udevadm control --reload; \
			udevadm trigger --action=change --subsystem-match=usb --subsystem-match=spidev \
				--subsystem-match=hidraw; \
		fi; \
		if aa-enabled --quiet 2> /dev/null; then \
			apparmor_parser -r -T -W /etc/apparmor.d/signetd /etc/apparmor.d/signet-reader; \
		fi; \
		PATH=$$PATH:/usr/sbin:/sbin; \
		stacks="a line of $(DOCDIR)/examples in /etc/pam.d"; \
		if command -v pam-auth-update > /dev/null; then stacks='pam-auth-update --enable signet'; \
		elif command -v authselect > /dev/null; then stacks='authselect select signet with-signet'; fi; \
		echo "next: systemctl enable --now signetd.socket; signet enroll; $$stacks"; \
	fi

# The profile is removed from common-auth before the module. State in /var/lib/signet stays. Fedora has
# no pam-auth-update; if it exists, a PATH without sbin must not hide it.
uninstall:
	@if test -z "$(DESTDIR)" && test -e /usr/share/pam-configs/signet; then \
		PATH=$$PATH:/usr/sbin:/sbin; \
		if command -v pam-auth-update > /dev/null; then \
			pam-auth-update --package --remove signet signet-fprint; \
		fi; \
	fi
	@if test -z "$(DESTDIR)" && test -d /run/systemd/system; then \
		systemctl disable --now signetd.socket signetd.service \
			signet-reader.socket signet-reader.service \
			signet-relay.socket signet-relay.service signet-server.service || true; \
		systemctl stop signet-fprint.service 2> /dev/null || true; \
		rm -rf /run/signet/tokens; \
	fi
	@if test -z "$(DESTDIR)" && aa-enabled --quiet 2> /dev/null; then \
		apparmor_parser -R /etc/apparmor.d/signetd /etc/apparmor.d/signet-reader || true; \
	fi
	@$(EACH); for entry in $(INSTALLED); do split $$entry; rm -f $$place; done
	@$(EACH); for entry in $(CONFIGURATION); do \
		split $$entry; fill; \
		if cmp -s $$filled $$place; then rm -f $$place; \
		elif test -e $$place; then echo "kept your own $${place#$(DESTDIR)}"; fi; \
	done
	@for directory in $(LIBEXEC) $(SKDIR) $(DOCDIR)/examples $(DOCDIR) $(SERVER_DOCDIR)/examples $(SERVER_DOCDIR) \
		/usr/share/authselect/vendor/signet; do \
		rmdir $(DESTDIR)$$directory 2> /dev/null || true; \
	done
	@if test -z "$(DESTDIR)" && test -d /run/systemd/system; then systemctl daemon-reload; fi
