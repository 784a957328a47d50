#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A greeter without pictures for lightdm: what it is told goes to /run/greeter/said, a line each,
# and what it is to do comes, a line each, from /run/greeter/commands: `user NAME`, `answer TEXT`,
# `cancel`, `start`. It speaks liblightdm-gobject's protocol: numbers of 32 bits, big-endian; texts
# with their length before them; each message a number, the length of the rest, and the rest.
use strict;
use warnings;

my ($CONNECT, $AUTHENTICATE, $CONTINUE, $START, $CANCEL) = (0, 1, 3, 4, 5);
my ($CONNECTED, $PROMPT, $END, $RESULT) = (0, 1, 2, 3);
my $CONNECTED_ANEW = 7;

sub number { pack 'N', $_[0] }
sub text { pack 'N/a*', $_[0] }

open my $server, '<&=', $ENV{LIGHTDM_FROM_SERVER_FD} or die;
open my $answers, '>&=', $ENV{LIGHTDM_TO_SERVER_FD} or die;
open my $commands, '+<', '/run/greeter/commands' or die;
open my $said, '>>', '/run/greeter/said' or die;

sub say_line { syswrite $said, "$_[0]\n" }

sub ask {
    my ($id, $body) = @_;
    syswrite $answers, number($id) . number(length $body) . $body;
}

sub bytes {
    my $wanted = shift;
    my $all = '';
    while (length $all < $wanted) {
        sysread $server, $all, $wanted - length $all, length $all or exit 0;
    }
    $all;
}

sub hear {
    my ($id, $length) = unpack 'NN', bytes(8);
    my $body = $length ? bytes($length) : '';
    if ($id == $CONNECTED || $id == $CONNECTED_ANEW) {
        say_line('connected');
    } elsif ($id == $PROMPT) {
        my (undef, undef, $count, $rest) = unpack 'NN/aNa*', $body;
        for (1 .. $count) {
            (my $style, my $message, $rest) = unpack 'NN/aa*', $rest;
            # PAM_PROMPT_ECHO_OFF, PAM_PROMPT_ECHO_ON, PAM_ERROR_MSG, PAM_TEXT_INFO
            say_line((qw(? hidden shown error info))[$style] . ": $message");
        }
    } elsif ($id == $END) {
        my (undef, undef, $code) = unpack 'NN/aN', $body;
        say_line("authenticated: $code");
    } elsif ($id == $RESULT) {
        say_line('result: ' . unpack 'N', $body);
    }
}

my $sequence = 0;

sub obey {
    my ($line, $byte) = ('', '');
    # Byte by byte: what is read ahead would be seen by no select.
    while (sysread($commands, $byte, 1) && $byte ne "\n") { $line .= $byte }
    my ($word, $rest) = split / /, $line, 2;
    if ($word eq 'user') { ask($AUTHENTICATE, number(++$sequence) . text($rest)) }
    elsif ($word eq 'answer') { ask($CONTINUE, number(1) . text($rest)) }
    elsif ($word eq 'cancel') { ask($CANCEL, '') }
    elsif ($word eq 'start') { ask($START, text('')) }
}

ask($CONNECT, text('1.26.0') . number(0) . number(1));
while (1) {
    my $ready = '';
    vec($ready, fileno $server, 1) = 1;
    vec($ready, fileno $commands, 1) = 1;
    select $ready, undef, undef, undef;
    if (vec $ready, fileno $server, 1) { hear() } else { obey() }
}
