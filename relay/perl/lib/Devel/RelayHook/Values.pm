# How one value is shown: in a line of at most 1 KB, without running anything of the program.
# Part of the hook; runs in a copy of the program (Copy.pm).

package DB;

BEGIN {
    $^H |= 0x600;
    $^H |= 0x01000000;    # no overloading: nothing of the program's runs for a look
    ${^WARNING_BITS} = "\0" x 20;
}

our (@inc, $jailed, $spelling);

my $MOST = 1024;    # bytes of one value, as UTF-8
my $LONGEST = 0.1;    # seconds that the texts of the subs in one answer may take to be found
my $depth_of_code = 0;
my (%spelled, $spelling_seconds);

my %KIND = (
    SCALAR => 'PV', REF => 'PV', LVALUE => 'PV', VSTRING => 'PV', ARRAY => 'AV', HASH => 'HV',
    CODE => 'CV', GLOB => 'GV', IO => 'IO', FORMAT => 'FM',
);

# The kind of what the reference points to, whatever it is blessed into.
sub class_of_thing {
    my $plain = $KIND{ref $_[0]};
    return $plain if $plain;
    my ($class) = ref(B::svref_2object($_[0])) =~ /::(\w+)$/;
    return $class;
}

# {value, type, kids} of what the reference points to.
sub describe {
    my ($ref) = @_;
    my $class = class_of_thing($ref);
    return describe_many($ref, $class) if $class eq 'AV' || $class eq 'HV';
    return {value => code_text($ref), type => 'code', kids => 0} if $class eq 'CV';
    return {value => cut("*" . glob_name($ref)), type => 'scalar', kids => 0} if $class eq 'GV';
    return {value => 'IO', type => 'scalar', kids => 0} if $class eq 'IO' || $class eq 'FM';
    if (my $tie = tied $$ref) { return {value => 'tied to ' . ref $tie, type => 'scalar', kids => 0} }
    my $value = $$ref;
    return describe_reference($value) if ref $value;
    return {value => defined $value ? cut("$value") : 'undef', type => 'scalar', kids => 0};
}

sub describe_many {
    my ($ref, $class) = @_;
    my $array = $class eq 'AV';
    my $type = $array ? 'array' : 'hash';
    my $tie = $array ? tied @$ref : tied %$ref;
    return {value => 'tied to ' . ref $tie, type => $type, kids => 0} if $tie;
    my $count = $array ? @$ref : keys %$ref;
    return {value => $array ? "[$count items]" : "{$count keys}", type => $type, kids => $count};
}

sub describe_reference {
    my ($value) = @_;
    my $class = class_of_thing($value);
    my $kind = ref $value;
    my $blessed = B::svref_2object($value)->FLAGS & 0x100000 ? "$kind " : '';
    if ($class eq 'REGEXP' || $kind eq 'Regexp') {
        my ($pattern, $flags) = re::regexp_pattern($value);
        $blessed = '' if $kind eq 'Regexp';
        return {value => cut("${blessed}qr/$pattern/$flags"), type => 'scalar', kids => 0};
    }
    return {value => cut("${blessed}object"), type => 'scalar', kids => 0} if $class eq 'OBJ';
    my $target = $depth_of_code++ > 8 ? {value => "\x{2026}", type => 'scalar', kids => 0} : describe($value);
    $depth_of_code--;
    my $plain = $class =~ /^(AV|HV|CV)$/;
    my $text = $blessed . ($plain ? '' : '\\') . $target->{value};
    my $kids = $plain ? $target->{kids} : $class eq 'GV' || $class eq 'IO' ? 0 : 1;
    my $type = $plain ? $target->{type} : 'scalar';
    return {value => cut($text), type => $type, kids => $kids, reference => 1};
}

sub glob_name {
    my ($ref) = @_;
    my $gv = B::svref_2object($ref);
    return $gv->STASH->NAME . '::' . $gv->NAME;
}

# At most 1 KB as UTF-8, never in the middle of a character.
sub cut {
    return $_[0] if length $_[0] < 256 && $_[0] !~ /[^\x20-\x7e]/;    # most values, at once
    my $text = shown(length $_[0] > $MOST + 8 ? short_text($_[0]) : $_[0]);
    my $bytes = $text;
    utf8::encode($bytes);
    return $text if length $bytes <= $MOST && length $_[0] <= $MOST + 8;
    $bytes = substr $bytes, 0, $MOST - 3;
    chop $bytes while !utf8::decode(my $try = $bytes);
    utf8::decode($bytes);
    return "$bytes\x{2026}";
}

sub short_text {
    my $text = substr $_[0], 0, $MOST + 8;
    return $text if utf8::is_utf8($text);
    for my $less (0 .. 3) {
        my $try = substr $text, 0, length($text) - $less;
        return $try if utf8::decode(my $probe = $try);
    }
    return $text;
}

# Many subs may have the same text: closures of one prototype.
sub code_text {
    my ($code) = @_;
    my $cv = B::svref_2object($code);
    return '&' . $cv->GV->STASH->NAME . '::' . $cv->GV->NAME if ref $cv->ROOT eq 'B::NULL';
    my $root = ${$cv->ROOT};
    return $spelled{$root} if defined $spelled{$root};
    return "sub { \x{2026} }" if $spelling_seconds > $LONGEST;
    my $begun = (times)[0];
    $spelled{$root} = deparsed($code);
    $spelling_seconds += (times)[0] - $begun;
    return $spelled{$root};
}

sub forget_spelling_time { $spelling_seconds = 0 }

sub deparsed {
    my ($code) = @_;
    local @INC = @inc;
    if ($jailed && !defined &B::Deparse::new) {
        $spelling = 1;    # once more, with the module loaded before the jail
        return '';
    }
    my $text = eval { require B::Deparse; B::Deparse->new->coderef2text($code) };
    return "sub { \x{2026} }" if !defined $text;
    $text =~ s/\s*\n\s*/ /g;
    1 while $text =~ s/\{ (?:package [\w:]+|use warnings|use strict|(?:use|no) feature[^;]*|no warnings|use utf8)(?: [^;]*)?; /{ /;
    return cut("sub $text");
}

1;
