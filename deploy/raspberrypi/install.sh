#!/bin/sh
# Installs sosa-gateway on 64-bit Raspberry Pi OS or Debian from the packages beside this script, or
# in the folder that --from names; brings an older installation up to date, keeps settings and data.
# Nothing is fetched but what Debian itself has; with --offline not even that.
set -eu

# Tests let a folder stand for /.
root=${SOSA_GATEWAY_INSTALL_ROOT:-}
settings=$root/etc/sosa-gateway/gateway.toml
data=$root/var/lib/sosa-gateway
installed_key=$root/usr/share/sosa-gateway/release-key.pem
slots=$root/var/lib/sosa-gateway-slots
old_unit=$root/etc/systemd/system/sosa-gateway.service
serial=$old_unit.d/serial.conf
needed_kib=409600

key=''
from=$(cd "$(dirname "$0")" && pwd)
dry_run='' leaves_slot='' offline='' uninstall='' purge='' downgrade='' serve=lan

usage() {
  cat <<'END'
usage: install.sh [--from FOLDER] [--key FILE] [--local] [--offline] [--allow-downgrade] [--dry-run]
       install.sh --uninstall [--purge] [--dry-run]

  --from FOLDER      where the packages and SHA256SUMS are; default: beside this script
  --key FILE         the public key (PEM) that must have signed them; default: that of the
                     gateway that is installed, if it has one
  --local            a new installation serves this machine only, and asks nobody who they are;
                     otherwise it serves the network, over TLS, and clients need an identity
  --offline          install without asking Debian's mirrors
  --allow-downgrade  put an older version in the place of a newer one
  --dry-run          say what would be done, and do nothing
  --uninstall        remove the program; settings, readings and keys stay
  --purge            with --uninstall: remove those as well
END
}

fail() {
  printf 'error: %s\nwhat to do: %s\n' "$1" "$2" >&2
  exit 1
}

say() { printf '%s\n' "$*"; }

run() {
  if [ -n "$dry_run" ]; then
    say "would run: $*"
  else
    "$@"
  fi
}

arguments() {
  while [ $# -gt 0 ]; do
    case "$1" in
      --from) [ $# -ge 2 ] || { usage >&2; exit 2; }; from=$2; shift ;;
      --key) [ $# -ge 2 ] || { usage >&2; exit 2; }; key=$2; shift ;;
      --local) serve=local ;;
      --offline) offline=yes ;;
      --allow-downgrade) downgrade=yes ;;
      --dry-run) dry_run=yes ;;
      --uninstall) uninstall=yes ;;
      --purge) purge=yes ;;
      -h | --help) usage; exit 0 ;;
      *) printf 'error: there is no option %s\n' "$1" >&2; usage >&2; exit 2 ;;
    esac
    shift
  done
  if [ -n "$purge" ] && [ -z "$uninstall" ]; then
    fail "--purge goes with --uninstall" "install.sh --uninstall --purge"
  fi
}

require_root() {
  [ -n "$dry_run" ] || [ "$(id -u)" = 0 ] || fail "this changes the system" "sudo $0"
}

# Not `uname -m`: a 64-bit kernel runs a 32-bit system as well.
require_architecture() {
  architecture=$(dpkg --print-architecture)
  case "$architecture" in
    arm64 | amd64) ;;
    *) fail "this system is $architecture: sosa-gateway needs a 64-bit one (arm64 or amd64)" \
      "flash 64-bit Raspberry Pi OS; a Pi 3, 4, 5 or Zero 2 W runs it" ;;
  esac
}

require_release() {
  codename=$(sed -n 's/^VERSION_CODENAME=//p' "$root/etc/os-release")
  case "$codename" in
    bookworm) release=12 python=python3.11 ;;
    trixie) release=13 python=python3.13 ;;
    *) fail "this is Debian ${codename:-of no known release}; there are packages for bookworm and trixie" \
      "use Debian 12 or 13, or Raspberry Pi OS of these" ;;
  esac
}

require_python() {
  command -v "$python" >/dev/null || [ -z "$offline" ] || \
    fail "there is no $python here" "install it (apt install $python), or go without --offline"
}

require_space() {
  free=$(df -Pk "$root/usr" 2>/dev/null | awk 'NR == 2 { print $4 }')
  [ "$free" -ge "$needed_kib" ] || \
    fail "$((free / 1024)) MB are free, $((needed_kib / 1024)) are needed" "make room on the disk of /usr"
}

find_package() {
  package=$(find "$from" -maxdepth 1 -name "sosa-gateway_*~deb${release}_${architecture}.deb" |
    sort -V | tail -n 1)
  [ -n "$package" ] || fail "no package for Debian $release on $architecture in $from" \
    "put it there, with SHA256SUMS, or name its folder: --from FOLDER"
}

# What is verified is what is installed: a stick, or whoever may write there, has no part in it then.
take_copy() {
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  for path in "$package" "$from/SHA256SUMS" "$from/SHA256SUMS.sig"; do
    [ ! -f "$path" ] || cp "$path" "$copy/" || fail "$path cannot be copied" "see its disk, and that of $copy"
  done
  chmod -R a+rX "$copy"
  package=$copy/$(basename "$package")
}

# An installed gateway takes packages of the hand alone that made it; --key names another one.
verify_signature() {
  [ -n "$key" ] || [ ! -f "$installed_key" ] || key=$installed_key
  [ -n "$key" ] || return 0
  command -v openssl >/dev/null || fail "there is no openssl to verify the signature" "apt install openssl"
  [ -f "$copy/SHA256SUMS.sig" ] || fail "the packages in $from are not signed" \
    "get them with SHA256SUMS.sig, or say whose you trust: --key FILE"
  openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in "$copy/SHA256SUMS" \
    -sigfile "$copy/SHA256SUMS.sig" >/dev/null 2>&1 || \
    fail "SHA256SUMS is not signed by the key in $key" "get it from whoever made the gateway that is installed"
  say "verified: signed by the key in $key"
}

verify() {
  name=$(basename "$package")
  [ -f "$copy/SHA256SUMS" ] || fail "there is no SHA256SUMS beside $name" "copy it from where the package was"
  verify_signature
  listed=$(awk -v name="$name" '$2 == name { print $1 }' "$copy/SHA256SUMS")
  [ -n "$listed" ] || fail "SHA256SUMS does not list $name" "copy both again from where they were"
  [ "$(sha256sum "$package" | cut -d ' ' -f 1)" = "$listed" ] || \
    fail "$name is not what SHA256SUMS says: damaged, or changed" "copy it again from where it was"
  say "verified: $name"
  version=$(dpkg-deb --field "$package" Version)
}

installed_version() {
  dpkg-query --show --showformat '${db:Status-Abbrev} ${Version}' sosa-gateway 2>/dev/null |
    sed -n 's/^ii *//p'
}

# The release in use, where `sosa-gateway upgrade` has put one into a slot.
slot_version() { cat "$slots/current/version" 2>/dev/null || true; }

# An older package than the slot in use takes its place on demand alone, and when it is installed; a
# newer one by itself.
require_newer_than_slot() {
  slot=$(slot_version)
  if [ -z "$slot" ] || ! dpkg --compare-versions "$version" lt "$slot"; then return 0; fi
  [ -n "$downgrade" ] || fail "release $slot is in use, which is newer than $version" \
    "keep it, or say --allow-downgrade"
  leaves_slot=yes
}

leave_slot() { [ -z "$leaves_slot" ] || run rm -f "$slots/current" "$slots/previous"; }

require_newer() {
  installed=$(installed_version)
  if [ -n "$installed" ] && dpkg --compare-versions "$version" lt "$installed" && [ -z "$downgrade" ]; then
    fail "version $installed is installed, which is newer than $version" \
      "keep it, or say --allow-downgrade"
  fi
}

# Not so in a root that is being built.
systemd_runs() { [ -d "$root/run/systemd/system" ]; }

# The page of before the package had people make this unit by hand, for a checkout in /opt. It would
# hide that of the package. Settings and data are where the package has them too: they stay.
take_over() {
  [ -f "$old_unit" ] && grep -q '^ExecStart=/opt/sosa-gateway/' "$old_unit" || return 0
  say "taking over the installation in /opt/sosa-gateway; its settings and data stay"
  ! systemd_runs || run systemctl stop sosa-gateway.service
  run systemctl disable sosa-gateway.service
  run mv "$old_unit" "$old_unit.before-package"
  ! systemd_runs || run systemctl daemon-reload
}

install_package() {
  if [ "$installed" = "$version" ]; then
    say "version $version is installed already"
    return 0
  fi
  set -- -y --no-install-recommends -o Dpkg::Options::=--force-confold
  [ -z "$offline" ] || set -- "$@" --no-download
  [ -z "$downgrade" ] || set -- "$@" --allow-downgrades
  run env DEBIAN_FRONTEND=noninteractive apt-get install "$@" "$package"
}

# Settings that somebody has written are left alone: only those that came just now are changed.
open_to_network() {
  [ "$serve" = lan ] && [ -z "$had_settings" ] || return 0
  say "serving the network: over TLS, to clients with an identity"
  run sed -i -e '/^\[http\]/,/^\[/ s/^host = "127.0.0.1"/host = "0.0.0.0"/' \
    -e '/^\[mqtt\]/,/^\[/ s/^host = "127.0.0.1"/host = "0.0.0.0"/' \
    -e '/^\[tls\]/,/^\[/ s/^mode = "off"/mode = "own"/' \
    -e '/^\[security\]/,/^\[/ s/^enabled = false/enabled = true/' "$settings"
}

# The unit as it is packaged reaches no device: a drop-in of the package opens serial ports to it, and
# is linked only where a bus of [modbus] is a serial line (RTU).
allow_serial_lines() {
  if [ -f "$settings" ] && grep -Eq '^[^#]*\<device *= *["'\'']/' "$settings"; then
    [ ! -L "$serial" ] || return 0
    say "a bus of [modbus] is a serial line: the service may open serial ports"
    run mkdir -p "$(dirname "$serial")"
    run ln -s /usr/share/sosa-gateway/serial.conf "$serial"
  elif [ -L "$serial" ]; then
    say "no bus of [modbus] is a serial line: the service may open none any more"
    run rm "$serial"
  else
    return 0
  fi
  ! systemd_runs || run systemctl daemon-reload
}

start() {
  run systemctl enable sosa-gateway.service
  if systemd_runs; then
    run systemctl restart sosa-gateway.service
  else
    say "no systemd runs here: not started"
  fi
}

value_of() { # section, key: as gateway.toml has it, without quotes
  sed -n "/^\[$1\]/,/^\[/ s/^$2 = *\"\{0,1\}\([^\"# ]*\).*/\1/p" "$settings" | head -n 1
}

tell() {
  [ -z "$dry_run" ] || return 0
  if [ "$(value_of tls mode)" = off ]; then
    say "the dashboard: http://127.0.0.1:$(value_of http port)/"
  else
    say "the dashboard: https://$(hostname):$(value_of tls http_port)/  (its certificate is its own: the browser will ask)"
  fi
  [ "$(value_of security enabled)" = true ] || return 0
  as_user="runuser -u sosa-gateway -- sosa-gateway"
  if code=$($as_user claim --config "$settings" 2>/dev/null); then
    say "the code that makes your browser its first client, for an hour: $(printf '%s\n' "$code" | head -n 1)"
  else
    say "no code was made: sign in as a client that it has, or read what this says:"
    say "  sudo -u sosa-gateway sosa-gateway claim --config $settings"
  fi
}

remove() {
  [ ! -L "$serial" ] || run rm "$serial"
  if [ -n "$purge" ]; then
    run apt-get purge -y sosa-gateway
  else
    run apt-get remove -y sosa-gateway
    say "settings, readings and keys stay in $settings and $data; --purge removes them"
  fi
}

main() {
  arguments "$@"
  require_root
  if [ -n "$uninstall" ]; then
    remove
    return 0
  fi
  require_architecture
  require_release
  require_python
  require_space
  find_package
  take_copy
  verify
  require_newer
  require_newer_than_slot
  had_settings=''
  [ ! -e "$settings" ] || had_settings=yes
  take_over
  install_package
  leave_slot
  open_to_network
  allow_serial_lines
  start
  tell
}

main "$@"
