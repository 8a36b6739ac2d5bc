# Expressions: in a copy of the program under a mask of operations and a filter of system
# calls, or, where the client allows side effects, in the program itself.
# Part of the hook. First in the file: what is compiled in `apart` sees no lexical but its own.

package Devel::RelayHook;

BEGIN {
    $^H |= 0x600;
    ${^WARNING_BITS} = "\0" x 20;
}

sub apart { eval $DB::prelude; }

package DB;

our ($sock, $seconds_left, $pid, %commands, %looks, %number, $no_seccomp, $arch, @inc, @kept, @saved, $effect, $in_copy);
our $unparsed = 0;    # the last expression did not compile, by its own text
our ($prelude, $code, $failure, $source, $outer_refs, $warning_bits, $hint_hash, $hints, $masks, $program_mask, $jailed, $spelling);

my $SECONDS = 5;
my $AGAIN = '{"spell":true}';    # B::Deparse is needed, and cannot be loaded any more
my $MEMORY = 512 * 1024 * 1024;    # beyond what the copy has
my $SIGSYS = 31;
my %allowed;

my $ALLOWED = join ' ', qw(
    null stub scalar pushmark wantarray const rv2sv av2arylen rv2cv anoncode prototype match qr
    trans transr defined undef study pos pow multiply i_multiply divide i_divide modulo i_modulo
    add i_add subtract i_subtract stringify left_shift right_shift lt i_lt gt i_gt le i_le ge i_ge
    eq i_eq ne i_ne ncmp i_ncmp slt sgt sle sge seq sne scmp bit_and bit_xor bit_or nbit_and
    nbit_xor nbit_or sbit_and sbit_xor sbit_or negate i_negate not complement ncomplement
    scomplement int hex oct abs length substr vec index rindex ord chr ucfirst lcfirst uc lc
    quotemeta rv2av aelemfast aelemfast_lex aelem aslice kvaslice avalues akeys values keys exists
    rv2hv helem hslice kvhslice multideref split list lslice reverse flip flop and or xor dor
    cond_expr leavesub leavesublv argcheck argelem argdefelem die lineseq nextstate enter leave
    scope return leaveeval coreargs avhvswitch fc anonconst isa cmpchain_and cmpchain_dup is_bool
    is_weak repeat concat multiconcat join anonlist anonhash emptyavhv range grepstart grepwhile
    mapstart mapwhile unstack enteriter iter enterloop leaveloop last next redo gvsv gv gelem
    padsv padav padhv padany rv2gv refgen srefgen ref regcmaybe regcreset regcomp subst substcont
    sprintf localtime gmtime time entertry leavetry padcv introcv clonecv padrange
    entertrycatch leavetrycatch poptry catch blessed refaddr reftype ceil floor atan2 sin cos rand
    exp log sqrt fileno lstat stat ftrread ftrwrite ftrexec fteread ftewrite fteexec ftis ftsize
    ftmtime ftatime ftctime ftrowned fteowned ftzero ftsock ftchr ftblk ftfile ftdir ftpipe ftsuid
    ftsgid ftsvtx ftlink readlink unpack pack sort tied caller crypt
);
my $CALLS = 'entersub method method_named method_super method_redir method_redir_super';

$commands{safe} = sub { my ($n, $text) = @_; return jailed($n, $text, sub { value_row($_[0]) }) };
$commands{look} = sub { return {result => value_row($kept[$_[0]])} };
$commands{effects} = \&with_effects;
$commands{cancel} = sub { return {} };
$looks{$_} = 1 for qw(safe look);

sub value_row { return row('', '', '', $_[0]) }

sub safe_variables {
    my ($n, undef, $text, $start, $count, @steps) = @_;
    return jailed($n, $text, sub { list_children($_[0], $start, $count, @steps) });
}

# Evaluation in a frame --------------------------------------------------------------------

# A reference to the value. Dies with the reason.
sub evaluate {
    my ($n, $text, $arm) = @_;
    my $frame = (frames())[$n] or die "no frame $n\n";
    if (utf8_source($frame)) { utf8::decode($text) }
    my $whole = is_whole($text);
    $unparsed = 0;
    $source = "#line 1 \"expression\"\nsub { " . ($whole ? '\\' : '') . "$text\n}";
    $masks = $arm;
    $n ? prelude_outer($n, $frame) : prelude_inner($frame);
    ($code, $failure) = ();
    local $^P = 0;
    if ($n) { Devel::RelayHook::apart() }
    else { innermost() }
    if (ref $code ne 'CODE') {
        my $why = $failure || $@ || "it closes a bracket that it has not opened\n";
        $unparsed = is_syntax($why);
        $why = "the variables of this frame are not known: $why" if is_hidden($n, $frame) && is_undeclared($why);
        die $why;
    }
    check($code) if $arm;
    my $args = args_of($n);
    die "\@_ of this frame is not known\n" if !$args && needs_args($text);
    return run_it($whole, $text, @{$args || []});
}

# Patterns of their own subs: what matches there leaves the program's $1 alone.
sub is_whole { return $_[0] =~ /^\s*[\@%](?:\$*[\w:]+|\$*\{.*\})\s*$/s }
sub is_list { return $_[0] =~ /^\s*(?:[(\@%]|(?:map|grep|sort|keys|values|split|qw)\b)/ }

# Rather once too often: the text may have an anonymous sub with an @_ of its own.
sub needs_args { return $_[0] =~ /[\@#]\s*\{?\s*_(?!\w)|\$\{?_\}?\s*\[|\b(?:shift|pop)\b|^\s*&[\w:]+\s*$/ }

sub utf8_source { return ($_[0]{at}[6] || 0) & 0x00800000 }

sub run_it {
    my ($whole, $text, @args) = @_;
    my $list = is_list($text);
    my ($whole_value, @values);
    ($@, $!, $?) = @saved;
    refuse_calls() if $masks eq 'no subs';
    # As in Lines.pm: out of a sort's block there is no `last`, `next` or `goto`.
    my @walled = sort {
        if ($whole) { $whole_value = &$code(@args) }
        elsif ($list) { @values = &$code(@args) }
        else { $values[0] = &$code(@args) }
        0;
    } 1, 2;
    if ($masks eq 'no subs') { $^P = 0; unhook_calls() }
    # A sub that evaluates a string has taken the mask for an error of that string.
    die $@ if $masks && !ref $@ && index($@, 'trapped by operation mask') >= 0;
    return $whole_value if $whole;
    return @values == 1 ? \$values[0] : \@values;
}

# Names that nobody declared are no fault of the syntax, nor is what a `use` dies of.
sub is_syntax {
    my ($why) = @_;
    return 0 if $why =~ /trapped by operation mask|^BEGIN failed--/m;
    my @places = grep { / at expression line \d/ } split /\n/, $why;
    return !@places || grep { !/^(?:Global symbol|Bareword ".*" not allowed)/ } @places;
}

# Runs in the scope of the statement that stopped: Perl skips the frames of package DB.
sub innermost { eval $prelude; }

sub is_undeclared { return $_[0] =~ /^Global symbol/ }

# Where a name may be that of a variable which is there and not seen, it is no global one's.
sub settings {
    my ($n, $frame) = @_;
    ($hints, $warning_bits, $hint_hash) = @{$frame->{at}}[6, 7, 8];
    $hints |= 0x400 if is_hidden($n, $frame);
    $hints |= 0x01000000 if $masks && $masks eq 'no subs';
    return "package $frame->{at}[0];\n"
        . 'BEGIN { $^H = $DB::hints; ${^WARNING_BITS} = $DB::warning_bits;'
        . ' %^H = $DB::hint_hash ? %$DB::hint_hash : () }' . "\n"
        . 'DB::arm($DB::masks) if $DB::masks; $DB::code = eval $DB::source; $DB::failure = $@;';
}

sub prelude_inner { return $prelude = settings(0, $_[0]) }

# The variables of an outer frame, as true aliases, then as above.
sub prelude_outer {
    my ($n, $frame) = @_;
    prepare_look();
    my @seen = grep { $_->[0] =~ /^[\$\@%]/ } locals_of($n, $frame);
    forget_look() if !$in_copy;
    { local @INC = @inc; require feature }
    $outer_refs = [map { $_->[1] } @seen];
    my $aliases = join ' ', map { "\\my $seen[$_][0] = \$DB::outer_refs->[$_];" } 0 .. $#seen;
    die "an outer frame needs Perl 5.22\n" if $] < 5.022;
    return $prelude = 'BEGIN { feature->import("refaliasing");'
        . ' ${^WARNING_BITS} = "\0" x 20 }' . "$aliases\n" . settings($n, $frame);
}

# Side effects -----------------------------------------------------------------------------

sub with_effects {
    my ($n, $text, $said) = @_;
    my $ref = eval {
        local $effect = 1;
        local $SIG{__DIE__};
        unblock_signals($program_mask);    # the program's own code may rely on them
        evaluate($n, $text, '');
    };
    my $error = $@;
    leave() if $$ != $pid;    # a child that it forked: the program has one debugger
    block_signals();
    $saved[1] = $! + 0 if $ref;
    flush_output();
    $said = $text if !defined $said;
    return {refused => refused($error, $said)->{refused}} if !$ref;
    push @kept, $ref;
    return {kept => \$#kept};
}


# The jail ---------------------------------------------------------------------------------

# `$then->(reference to the value)` in a copy of the copy.
sub jailed {
    my ($n, $text, $then, $spell) = @_;
    warm_up($n);
    my ($child, $from) = spawn_copy(sub {
        my ($to) = @_;
        my $reply = eval { guarded($n, $text, $then, $to, $spell) } || refused("$@", $text);
        my $data = pack 'N/a*', json($reply);
        my $at = 0;
        $at += syswrite $to, $data, length($data) - $at, $at while $at < length $data;
    });
    return {error => "cannot copy the program: $!"} if !$child;
    my $data = read_in_time($child, $from);
    my $signal = reap($child) & 127;
    return {error => 'timeout', code => \'1003'} if !defined $data;
    if (length $data < 4 || length $data < 4 + unpack 'N', $data) {
        return side_effect(how_it_ended($signal));
    }
    my $answer = substr $data, 4;
    return jailed($n, $text, $then, 1) if !$spell && $answer eq $AGAIN;
    return {result => \$answer} if $answer !~ /^\{"refused"/;
    return {refused => \$answer};
}

sub read_in_time {
    my ($child, $from) = @_;
    my $data = '';
    my $left = length $seconds_left ? $seconds_left : $SECONDS;
    $seconds_left = '';
    while (1) {
        my $set = '';
        vec($set, fileno($_), 1) = 1 for $from, $sock;
        my ($ready, $rest) = select $set, undef, undef, $left;
        $left = $rest if defined $rest;
        if (!$ready) { kill 9, $child; return undef }
        next if $ready < 0;
        if (!vec $set, fileno($from), 1) { overtake($child, $left); next }
        my $got = sysread $from, $data, 65536, length $data;
        next if !defined $got && $! == 4;
        return $data if !$got;
    }
}

sub how_it_ended {
    my ($signal) = @_;
    return 'it calls code that ends the process' if !$signal;
    return 'it calls code that reads, writes or acts on other processes, or takes over 512 MB'
        if $signal == $SIGSYS;
    return "it takes over 512 MB, or Perl itself cannot bear it (signal $signal)";
}

sub side_effect { return {error => $_[0], code => \'1002'} }

sub refused {
    my ($why, $text) = @_;
    $why = shown(trimmed($why, $text));
    if ($unparsed) {
        my %seen;
        $why = join "\n", grep { !$seen{$_}++ } split /\n/, $why;
        return {refused => {code => \'1009', reason => $why}};
    }
    my %answer = ($why =~ /^'(.*)' trapped by operation mask/s || $why =~ /^(?:side effect): (.*)/s)
        ? (code => \'1002', reason => reason($1)) : (code => \'0', reason => $why);
    return {refused => \%answer};
}

sub reason {
    my ($what) = @_;
    return $what if !calls_refused() || $what !~ /^(?:subroutine entry|method|.*sort)/;
    return "$what (calls are refused where this system has no seccomp)";
}

sub calls_refused { return $no_seccomp || $arch ne 'x86_64' }

sub guarded {
    my ($n, $text, $then, $to, $spell) = @_;
    if ($spell) { local @INC = @inc; require B::Deparse }
    ($jailed, $spelling) = (1, 0);
    limit_memory();
    limit_harm() if calls_refused();
    local $$ = $pid;    # the program's, not the copy's
    if (!calls_refused()) { lock_calls(fileno $to) or $no_seccomp = 1 }
    my $ref = evaluate($n, $text, calls_refused() ? 'no subs' : 'subs');
    my $reply = $then->($ref);
    return $spelling && !$spell ? \$AGAIN : $reply;
}

# What Perl loads on first use, it must have before system calls are filtered; what is done
# here, once a stop, need not be done for each expression.
sub warm_up {
    my ($n) = @_;
    if ($n) { local @INC = @inc; require feature }
    locals_of($n, (frames())[$n] || die "no frame $n\n");
    return if %allowed;
    load_xs('Opcode') if !defined &Opcode::opmask_add;
    my %known = map { $_ => 1 } Opcode::opset_to_ops(Opcode::full_opset());
    for (['subs', "$ALLOWED $CALLS"], ['no subs', $ALLOWED]) {
        $allowed{$_->[0]} = Opcode::opset(grep { $known{$_} } split / /, $_->[1]);
    }
    my $random = rand;
    my @now = localtime;
    my $text = "\x{100}\x{e9}";
    my $lower = lc $text;
    my $found = $text =~ /\w\x{100}/i;
}

# From here on, whatever is compiled must do without the other operations.
sub arm {
    my ($which) = @_;
    Opcode::opmask_add(Opcode::invert_opset($allowed{$which}));
}

# No operation of the expression: Perl itself calls what a tied variable is tied to.
sub refuse_calls {
    *DB::sub = sub { die "side effect: subroutine entry\n" };
    $^P = 1;
}

# Changes that are a flag of an operation, not an operation of their own.
sub check {
    my ($sub) = @_;
    my @left = (B::svref_2object($sub));
    my %walked;
    while (my $cv = pop @left) {
        my $is_own = !%walked;    # that of the expression, not of an anonymous sub in it
        next if $walked{$$cv}++ || ref $cv->ROOT eq 'B::NULL';
        each_op($cv->ROOT, sub {
            my ($op) = @_;
            my $name = $op->name;
            my $why = change_by($op, $name);
            die "side effect: $why\n" if $why;
            die "$name would tell of the expression, not of this frame\n"
                if $is_own && ($name eq 'caller' || $name eq 'wantarray');
            push @left, $cv->PADLIST->ARRAYelt(1)->ARRAYelt($op->targ) if $name eq 'anoncode';
        });
    }
}

my %BY_KID = map { $_ => 1 } qw(
    pow multiply i_multiply divide i_divide modulo i_modulo add i_add subtract i_subtract concat
    left_shift right_shift bit_and bit_xor bit_or nbit_and nbit_xor nbit_or sbit_and sbit_xor
    sbit_or repeat
);

sub change_by {
    my ($op, $name) = @_;
    my ($flags, $private) = ($op->flags, $op->private);
    return 'undef of a variable' if $name eq 'undef' && $flags & 4;
    return 'assignment' if $BY_KID{$name} && $flags & 64 && $op->first->flags & 32;
    return 'assignment' if $name eq 'multiconcat' && $private & 0x40;    # OPpMULTICONCAT_APPEND
    return 'substitution (s///r changes nothing)' if $name eq 'subst' && !($op->pmflags & nondestructive());
    return 'transliteration (tr///r changes nothing)' if $name eq 'trans' && !($private & identical());
    return 'substr with a replacement' if $name eq 'substr' && kids_of($op) >= 4;
    return 'local' if $name =~ /^(?:rv2[sahg]v|gvsv|[ah]elem|[ah]slice)$/ && $private & 0x80;
    return 'sort by a named sub' if $name eq 'sort' && calls_refused() && $flags & 64 && !($flags & 128);
    return '';
}

sub kids_of {
    my ($op) = @_;
    my $count = 0;
    for (my $kid = $op->first; $$kid; $kid = $kid->sibling) {
        $count++ if $kid->name ne 'pushmark' && !($kid->name eq 'null' && !($kid->flags & 4));
    }
    return $count;
}

sub nondestructive { return defined &B::PMf_NONDESTRUCT ? B::PMf_NONDESTRUCT() : 1 << 27 }
sub identical { return defined &B::OPpTRANS_IDENTICAL ? B::OPpTRANS_IDENTICAL() : 4 }

sub limit_memory {
    return if $arch ne 'x86_64';
    my $none = "\0" x 16;
    syscall(160, 4, $none);    # no core file
    open my $file, '<', '/proc/self/statm' or return;
    my $line = '';
    sysread $file, $line, 200;
    my ($pages) = $line =~ /^(\d+)/ or return;
    my $bytes = $pages * 4096 + $MEMORY;
    my $limit = pack 'QQ', $bytes, $bytes;
    syscall(160, 9, $limit);
}

# Where calls cannot be filtered: no file grows, no process starts.
sub limit_harm {
    my $number = $arch eq 'x86_64' ? 160 : $arch eq 'aarch64' ? 164 : return;
    my $none = "\0" x 16;
    syscall($number, $_, $none) for 1, 6;
    open STDERR, '>', '/dev/null';    # where Perl itself may complain
}

# Linux on x86-64: memory, time, stat and the end; writing to the one pipe; anything else kills.
sub lock_calls {
    my ($fd) = @_;
    my @calls = (
        9, 10, 11, 12, 13, 14, 15, 25, 28, 60, 231, 39, 186, 110, 102, 104, 107, 108, 201, 96, 228, 100,
        4, 5, 6, 262, 332, 21, 269, 439, 89, 267, 79, 202, 318,
    );
    my @code = ([0x20, 0, 0, 4], [0x15, 1, 0, 0xc000003e], [0x06, 0, 0, 0x80000000]);
    push @code, [0x20, 0, 0, 0];
    push @code, [0x15, 0, 1, $_], [0x06, 0, 0, 0x7fff0000] for @calls;
    push @code, [0x15, 1, 0, 1], [0x06, 0, 0, 0x80000000];
    push @code, [0x20, 0, 0, 16], [0x15, 0, 1, $fd], [0x06, 0, 0, 0x7fff0000];
    push @code, [0x06, 0, 0, 0x80000000];
    my $filter = join '', map { pack 'S C C L', @$_ } @code;
    my $program = pack 'S x![P] P', scalar @code, $filter;
    return 0 if syscall(157, 38, 1, 0, 0, 0) != 0;
    return syscall(157, 22, 2, $program, 0, 0) == 0;
}

1;
