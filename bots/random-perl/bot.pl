#!/usr/bin/perl
# Plays a random legal action in any game: core Perl.
#
# Answering with an index needs no JSON parser (the core's JSON::PP takes a second for a long question), only a
# pattern that matches one whole value, whatever is inside it.
use strict;
use warnings;

$| = 1;    # flush each print: a pipe is fully buffered, and the referee would wait in vain

my $STRING = qr/"(?:[^"\\]++|\\.)*+"/;
my $VALUE  = qr/(?<value>$STRING|[-+.\w]++|[\[{](?:[^\[\]{}"]++|$STRING|(?&value))*+[\]}])/;

my $random = 1;    # the state of an xorshift64 generator: never zero

sub below {
    my ($n) = @_;
    $random ^= $random << 13;
    $random ^= $random >> 7;
    $random ^= $random << 17;
    return $n ? $random % $n : 0;
}

while (my $line = <STDIN>) {
    # The top level: each key with the text of its value.
    my %message = $line =~ /\G\s*[{,]\s*"((?:[^"\\]++|\\.)*+)"\s*:\s*$VALUE/g;
    my $type = $message{type} // '';
    if ($type eq '"hello"') {
        print qq({"type":"hello","protocol":1,"wants":["legal"],"reusable":true}\n);
    }
    elsif ($type eq '"start"') {
        # The referee's seed makes a match reproducible; its first 16 hex digits are 64 bits.
        $random = unpack('Q>', pack('H16', substr $message{seed}, 1)) || 1;
        print qq({"type":"ready"}\n);
    }
    elsif ($type eq '"act"') {
        my $legal = () = ($message{legal} // '[]') =~ /\G[\[,]\s*$VALUE\s*/g;
        my $index = below($legal);
        print qq({"type":"act","id":$message{id},"action":$index}\n);
    }
    elsif ($type eq '"fault"') { print STDERR $line }
    elsif ($type eq '"quit"')  { last }
}
