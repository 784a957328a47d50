#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# accounts.pl: makes the accounts and homes of a fixture, and the links in its /dev, in its root, which
# is the working directory. One process, since a fixture is made for nearly every test.
# Reads "name uid password" from standard input up to an empty line, and nothing beyond it.
use strict;
use warnings;

sub line {
    my ($line, $byte) = ('');
    while (sysread(STDIN, $byte, 1) && $byte ne "\n") { $line .= $byte }
    return $line;
}

sub lines {
    open(my $file, '<', "etc/$_[0]") or die "$_[0]: $!";
    return <$file>;
}

sub put {
    my ($path, $mode, @lines) = @_;
    # Not through a link, nor into a file of the machine.
    unlink $path;
    open(my $file, '>', $path) or die "$path: $!";
    print $file @lines;
    close($file) or die "$path: $!";
    chmod($mode, $path) or die "$path: $!";
}

symlink('/proc/self/fd', 'dev/fd') or die "dev/fd: $!";
my @streams = qw(stdin stdout stderr);
for (0 .. 2) { symlink("/proc/self/fd/$_", "dev/$streams[$_]") or die "$streams[$_]: $!" }

my @passwd = lines('passwd');
my @group = lines('group');
my (%hashes, @homes);
while ((my $line = line()) ne '') {
    my ($name, $uid, $password) = split(' ', $line, 3);
    $hashes{$name} = crypt($password // '', '$6$rounds=1000$fixture$');
    next if $uid == 0;
    for my $table (\@passwd, \@group) {
        @$table = grep { my @words = split(/:/); $words[0] ne $name && $words[2] ne $uid } @$table;
    }
    push(@passwd, "$name:x:$uid:$uid:$name of the fixture:/home/$name:/bin/bash\n");
    push(@group, "$name:x:$uid:\n");
    push(@homes, [$name, $uid]);
}
put('etc/passwd', 0644, @passwd);
put('etc/group', 0644, @group);
put('etc/shadow', 0640, map { /^([^:]*)/; "$1:" . ($hashes{$1} // '*') . ":19000:0:99999:7:::\n" } @passwd);
put('etc/gshadow', 0640, map { /^([^:]*)/; "$1:*::\n" } @group);
my ($shadow) = map { (split(/:/))[2] } grep { /^shadow:/ } @group;
chown(0, $shadow, 'etc/shadow', 'etc/gshadow') == 2 or die "chown: $!";

# Others pass through /root, where a directory that is seen may be.
chmod(0711, 'root') == 1 && chmod(0700, 'var/lib/signet') == 1 or die "chmod: $!";
for (['root', 0], @homes) {
    my ($name, $uid) = @$_;
    my $home = $uid == 0 ? 'root' : "home/$name";
    mkdir($home, 0755);
    put("$home/.bashrc", 0644, "PS1='\\u\@linux\\\$ '\n");
    put("$home/.profile", 0644, ". ~/.bashrc\n");
    put("$home/.hushlogin", 0644);
    chown($uid, $uid, $home, "$home/.bashrc", "$home/.profile", "$home/.hushlogin") == 4
        or die "$home: $!";
}
