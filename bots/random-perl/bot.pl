#!/usr/bin/perl
# Plays a random legal action in any game: core Perl.
#
# Answering with an index needs no JSON parser (the core's JSON::PP takes a second for a long question), only
# the plain values of the top level and the number of elements of "legal": `scan` walks the tokens.
use strict;
use warnings;

$| = 1;    # flush each print: a pipe is fully buffered, and the referee would wait in vain

# The plain top-level values of a message, by key; for a top-level list or object, how many commas it has and
# whether it is empty: ["legal"] is { commas => ..., empty => ... }.
sub scan {
    my ($line) = @_;
    my ($depth, $key, %message) = (0, '');
    while ($line =~ /("(?:[^"\\]++|\\.)*+")\s*(:?)|([\[{])|([\]}])|(,)|([^\s:,"\[\]{}]+)/g) {
        my ($string, $colon, $open, $close, $comma, $plain) = ($1, $2, $3, $4, $5, $6);
        $message{$key}{empty} = 0 if $depth == 2 && !$close && ref $message{$key};
        if    ($open)  { $message{$key} = { commas => 0, empty => 1 } if ++$depth == 2 }
        elsif ($close) { $depth-- }
        elsif ($comma) { $message{$key}{commas}++ if $depth == 2 }
        elsif ($depth == 1) {
            if   ($colon) { $key = substr $string, 1, -1 }
            else          { $message{$key} = defined $string ? substr($string, 1, -1) : $plain }
        }
    }
    return \%message;
}

my $random = 1;    # the state of an xorshift64 generator: never zero

sub below {
    my ($n) = @_;
    $random ^= $random << 13;
    $random ^= $random >> 7;
    $random ^= $random << 17;
    return $random % $n;
}

while (my $line = <STDIN>) {
    my $message = scan($line);
    my $type    = $message->{type};
    if ($type eq 'hello') {
        print qq({"type":"hello","protocol":1,"wants":["legal"]}\n);
    }
    elsif ($type eq 'start') {
        # The referee's seed makes a match reproducible; its first 16 hex digits are 64 bits.
        $random = unpack('Q>', pack('H16', $message->{seed})) || 1;
        print qq({"type":"ready"}\n);
    }
    elsif ($type eq 'act') {
        my $legal = $message->{legal};
        my $index = $legal->{empty} ? 0 : below($legal->{commas} + 1);
        print qq({"type":"act","id":$message->{id},"action":$index}\n);
    }
    elsif ($type eq 'fault') { print STDERR $line }
    elsif ($type eq 'quit')  { last }
}
