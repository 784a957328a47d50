#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A program that holds a terminal for somebody, as far as other processes see it:
#
#   terminal.pl NAME OWNER USER TERMINAL PROGRAM [argument …]
#
# Started as root, it calls itself NAME (xterm, ttyd), runs as OWNER, and is the parent of the program,
# which leads a session of its own on TERMINAL as USER; both are uids. The other side of the terminal
# stays with the test. Standard output ends when the program runs. This ends as the program does.
use strict;
use warnings;
use POSIX ();

my ($name, $owner, $user, $path, @program) = @ARGV;

sub become {
    my $id = shift;
    $) = "$id $id";
    POSIX::setgid($id);
    POSIX::setuid($id);
    $< == $id && $> == $id or POSIX::_exit(125);
}

$0 = $name;
my $child = fork // die "fork: $!";
if ($child == 0) {
    POSIX::setsid() or POSIX::_exit(126);
    # The first terminal that the leader of a session opens is the one that controls it.
    sysopen my $terminal, $path, 2 or POSIX::_exit(126);
    my $report = POSIX::dup(1);
    POSIX::dup2(fileno $terminal, $_) for 0 .. 2;
    # Closed by exec: FD_CLOEXEC.
    open my $end, '>&=', $report or POSIX::_exit(126);
    fcntl $end, 2, 1;
    fcntl $terminal, 2, 1;
    become($user);
    exec { $program[0] } @program or POSIX::_exit(127);
}
become($owner);
open STDOUT, '>', '/dev/null';
waitpid $child, 0;
if (my $signal = $? & 127) {
    POSIX::sigaction($signal, POSIX::SigAction->new('DEFAULT')) if $signal != 9;
    kill $signal, $$;
}
POSIX::_exit($? >> 8);
