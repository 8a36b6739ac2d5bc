# The stack, the variables that a frame sees, and how a value is shown.
# Part of the hook; all but the stack runs in a copy of the program (Copy.pm).

package DB;

BEGIN {
    $^H |= 0x600;
    $^H |= 0x01000000;    # no overloading: nothing of the program's runs for a look
    ${^WARNING_BITS} = "\0" x 20;
}

our (%commands, %reals, $records_found, $beyond, $frame_args, @inc, @kept, $frame_cv, $frame_seq);
our ($outer_refs, $outer_names);

my $PAGE = 1000;         # children without a count
my (%locals, %sorted);

$commands{variables} = \&variables_reply;
$commands{complete} = \&complete_reply;

# Frames -----------------------------------------------------------------------------------

# {at => record of the place, in => record of the call that made the frame or undef}
sub frames {
    my @calls = @{$records_found || []};
    my @frames;
    for (my $i = 0; $i < @calls; ) {
        my $j = $i + 1;
        $j++ while $j < @calls && is_block($calls[$j]);
        push @frames, {at => $calls[$i], in => $calls[$j], kind => kind_of_frame($calls[$j])};
        $i = $j;
    }
    $frames[-1]{kind} = 'beyond' if $beyond;    # where that one begins was not walked to
    return @frames;
}

# eval { } is not a frame of its own: it shares its sub's variables.
sub is_block { return $_[0][3] eq '(eval)' && !defined $_[0][4] && !$_[0][5] }

sub kind_of_frame {
    my ($in) = @_;
    return 'main' if !$in;
    return $in->[5] ? 'file' : 'eval' if $in->[3] eq '(eval)';
    return $in->[3] =~ /::__ANON__$/ ? 'anonymous' : 'sub';
}

sub frame_name {
    my ($frame) = @_;
    my ($kind, $in) = @$frame{qw(kind in)};
    return 'main' if $kind eq 'main';
    return 'eval STRING' if $kind eq 'eval';
    return "and $beyond more calls" if $kind eq 'beyond';
    return $kind eq 'file' ? 'require ' . shown($in->[4]) : $in->[3];
}

sub stack_reply {
    my ($start, $levels) = @_;
    my @frames = frames();
    my $end = $levels ? $start + $levels : @frames;
    $end = @frames if $end > @frames;
    my @shown;
    for my $n ($start .. $end - 1) {
        my $at = $frames[$n]{at};
        my $file = exists $reals{$at->[1]} ? $reals{$at->[1]} : $at->[1];
        push @shown, {
            name => frame_name($frames[$n]), file => shown($file), line => \"$at->[2]",
            kind => $frames[$n]{kind}, package => $at->[0],
            saved => $at->[1] =~ /^\(eval \d+\)/ ? \'true' : \'false',
        };
    }
    my $total = @frames;
    return {frames => \@shown, total => \"$total"};
}

# Lexicals, by Perl's own pads -------------------------------------------------------------

my %ISA = (
    SV => 'OBJECT', NULL => 'SV', PV => 'SV', IV => 'SV', NV => 'IV', PVIV => 'PV IV',
    PVNV => 'PVIV NV', PVMG => 'PVNV', REGEXP => 'PVMG', GV => 'PVMG', PVLV => 'GV', HV => 'PVMG',
    AV => 'PVMG', CV => 'PVMG', IO => 'PVMG', FM => 'CV', OP => 'OBJECT', UNOP => 'OP',
    UNOP_AUX => 'UNOP', BINOP => 'UNOP', LOGOP => 'UNOP', LISTOP => 'BINOP', SVOP => 'OP',
    PADOP => 'OP', PVOP => 'OP', LOOP => 'LISTOP', PMOP => 'LISTOP', COP => 'OP', METHOP => 'OP',
    SPECIAL => 'OBJECT', OBJ => 'PVMG',
);

sub prepare_look {
    return if defined &B::svref_2object;
    load_xs('B');
    @{"B::${_}::ISA"} = map { "B::$_" } split / /, $ISA{$_} for keys %ISA;
}

# The compiled half of a core module, without its Perl half, which loads many others.
sub load_xs {
    my ($name) = @_;
    DynaLoader::boot_DynaLoader('DynaLoader') if !defined &DynaLoader::dl_load_file;
    for my $root (@inc) {
        my $file = "$root/auto/$name/$name.so";
        next if !-f $file;
        my $library = DynaLoader::dl_load_file($file, 0) or next;
        my $boot = DynaLoader::dl_find_symbol($library, "boot_$name") or next;
        DynaLoader::dl_install_xsub("${name}::bootstrap", $boot, $file)->($name);
        return 1;
    }
    die "this perl has no $name\n";
}

# Innermost first: [name, reference]. A name that is hidden by a nearer one is left out.
sub forget_look { %locals = () }

sub locals_of {
    my ($n, $frame) = @_;
    return @{$locals{$n}} if $locals{$n};
    my ($cv, $seq, $depth) = $n == 0 ? innermost_pad($frame) : outer_pad($n, $frame);
    my @found = $cv ? visible($cv, $seq, $depth) : ();
    $locals{$n} = \@found;
    return @found;
}

sub innermost_pad {
    my ($frame) = @_;
    ($frame_cv, $frame_seq) = ();
    pad_by_eval();
    return $frame_cv ? ($frame_cv, $frame_seq, $frame_cv->DEPTH || 1) : ();
}

# The eval is compiled inside of the frame, and an anonymous sub in it inside of the eval.
sub pad_by_eval {
    local $^P = 0;
    eval q{
        my $eval = B::svref_2object(sub { })->OUTSIDE;
        ($DB::frame_cv, $DB::frame_seq) = ($eval->OUTSIDE, $eval->OUTSIDE_SEQ);
    };
}

sub outer_pad {
    my ($n, $frame) = @_;
    if ($frame->{kind} eq 'main') {
        return (B::main_cv(), seq_at(B::main_root(), $frame->{at}), 1);
    }
    return if $frame->{kind} ne 'sub';
    my $name = $frame->{in}[3];
    my $code = defined &$name ? \&$name : return;
    my $cv = B::svref_2object($code);
    my $inner = grep { $_->{in} && $_->{in}[3] eq $name } (frames())[0 .. $n - 1];
    my $depth = $cv->DEPTH - $inner;
    return if $depth < 1 || ref $cv->ROOT eq 'B::NULL';
    my $seq = seq_at($cv->ROOT, $frame->{at}) or return;    # redefined since: not its pad
    return ($cv, $seq, $depth);
}

# Whether its own variables cannot be found: outer_pad says where they can.
sub is_hidden { return $_[0] && $_[1]{kind} ne 'main' && $_[1]{kind} ne 'sub' }

# Its @_ as it is now, or undef if that cannot be known: what `caller` gives is what the sub was
# called with, and may be freed since. One without an @_ of its own has that around it.
sub args_of {
    my ($n) = @_;
    return $frame_args if !$n;
    my @frames = frames();
    my ($own) = grep { $frames[$_]{in} && $frames[$_]{in}[9] } $n .. $#frames;
    return [] if !defined $own;    # the program's own text
    return $frame_args if !grep { $_->{in}[9] } @frames[0 .. $own - 1];
    prepare_look();
    my ($cv, undef, $depth) = outer_pad($own, $frames[$own]);
    my $args = $cv ? $cv->PADLIST->ARRAYelt($depth)->ARRAYelt(0) : '';
    return ref $args eq 'B::AV' ? $args->object_2svref : undef;
}

# The number of the statement at that place: which variables are in scope there.
sub seq_at {
    my ($root, $at) = @_;
    my $best = 0;
    each_op($root, sub {
        my ($op) = @_;
        return if ref $op ne 'B::COP' || $op->line != $at->[2] || $op->file ne $at->[1];
        my $seq = $op->cop_seq;
        $best = $seq if $seq > $best;
    });
    return $best;
}

sub each_op {
    my ($root, $code) = @_;
    my @left = ($root);
    while (my $op = pop @left) {
        next if !$$op;
        $code->($op);
        if ($op->flags & 4 && $op->can('first')) {
            for (my $kid = $op->first; $$kid; $kid = $kid->sibling) { push @left, $kid }
        }
        if (ref $op eq 'B::PMOP' && $op->can('pmreplroot')) {
            my $replacement = $op->pmreplroot;
            push @left, $replacement if ref $replacement && $replacement->isa('B::OP');
        }
    }
}

sub visible {
    my ($cv, $seq, $depth) = @_;
    my ($own, %seen, @found) = (1);
    while (ref $cv eq 'B::CV' && $$cv) {
        my $list = $cv->PADLIST;
        last if ref $list ne 'B::PADLIST' || !$$list;
        my @names = $list->ARRAYelt(0)->ARRAY;
        my $pad = $list->ARRAYelt($depth);
        last if ref $pad ne 'B::AV';
        for my $i (reverse 1 .. $#names) {
            my $name = $names[$i];
            next if ref $name eq 'B::SPECIAL';
            my $text = $name->PV;
            next if !defined $text || length $text < 2 || $seen{$text} || $name->FLAGS & 16;
            my $outer = $name->FLAGS & 1;
            next if !$outer && !in_scope_at($name, $seq);
            my $sv = $pad->ARRAYelt($i);
            next if ref $sv eq 'B::SPECIAL';
            $seen{$text} = 1;
            push @found, [$text, $sv->object_2svref, $own, $i];
        }
        ($seq, $cv, $own) = ($cv->OUTSIDE_SEQ, $cv->OUTSIDE, 0);
        $depth = ref $cv eq 'B::CV' && $$cv ? $cv->DEPTH || 1 : 1;
    }
    return @found;
}

sub in_scope_at {
    my ($name, $seq) = @_;
    my ($low, $high) = ($name->COP_SEQ_RANGE_LOW, $name->COP_SEQ_RANGE_HIGH);
    return 0 if $low == 0xffffffff;
    return $low < $seq && ($seq <= $high || $high == 0xffffffff);
}

# Scopes -----------------------------------------------------------------------------------

sub scope_of {
    my ($n, $which) = @_;
    my $frame = (frames())[$n] or die "no frame $n\n";
    my $package = $frame->{at}[0];
    return package_variables($package), package_subs($package) if $which eq 'package';
    my @own = sort { $a->[3] <=> $b->[3] } grep { $_->[2] } locals_of($n, $frame);
    my $args = $frame->{kind} =~ /^(?:sub|anon)/ ? args_of($n) : undef;
    return $args ? (['@_', $args], @own) : @own;
}

sub package_variables {
    my ($package) = @_;
    my $stash = \%{"${package}::"};
    my @found;
    for my $name (sort keys %$stash) {
        next if $name !~ /^[^\W\d]\w*$/ || $name eq '_';
        my $glob = \$stash->{$name};
        next if ref $glob ne 'GLOB';
        my ($scalar, $array, $hash) = (*$glob{SCALAR}, *$glob{ARRAY}, *$glob{HASH});
        push @found, ["\$$name", $scalar] if $scalar && defined $$scalar;
        push @found, ["\@$name", $array] if $array;
        push @found, ["\%$name", $hash] if $hash;
    }
    return @found;
}

# The subs that are written in it, so no imported ones and no constants, and its file handles.
sub package_subs {
    my ($package) = @_;
    my $stash = \%{"${package}::"};
    my (@subs, @handles);
    for my $name (sort grep { /^[^\W\d]\w*$/ } keys %$stash) {
        my $full = "${package}::$name";
        push @subs, ["&$name", \&$full] if defined &$full && is_written_in($package, \&$full);
        my $glob = \$stash->{$name};
        push @handles, ["*$name", $glob] if ref $glob eq 'GLOB' && *$glob{IO};
    }
    return @subs, @handles;
}

sub is_written_in {
    my ($package, $code) = @_;
    my $cv = B::svref_2object($code);
    return if ref $cv->ROOT eq 'B::NULL';
    my $stash = $cv->GV->STASH;
    return ref $stash eq 'B::HV' && $stash->NAME eq $package;
}

# Children ---------------------------------------------------------------------------------

# What holds the children: a variable that refers to something shows what it refers to.
sub held {
    my ($ref) = @_;
    my $class = class_of_thing($ref);
    return $ref if $class =~ /^(AV|HV|CV|GV|IO|FM)$/ || tied $$ref || !ref $$ref;
    return $$ref;
}

# [label, step, how Perl spells it after its parent, reference]
sub children {
    my ($ref, $start, $count) = @_;
    my $held = held($ref);
    my $class = class_of_thing($held);
    if ($class eq 'AV') {
        my $end = last_of($start, $count, scalar @$held);
        return map { ["[$_]", "[$_]", "[$_]", \$held->[$_]] } $start .. $end - 1;
    }
    if ($class eq 'HV') {
        my $keys = sorted_keys($held);
        my $end = last_of($start, $count, scalar @$keys);
        return map {
            my $key = $keys->[$_];
            ['{' . cut($key) . '}', "{$_}", '{' . spelled_key($key) . '}', \$held->{$key}]
        } $start .. $end - 1;
    }
    return if $start || $held == $ref;
    return ['$$', '$', '$', $held];
}

sub last_of {
    my ($start, $count, $total) = @_;
    my $end = $start + ($count || $PAGE);
    return $end < $total ? $end : $total;
}

sub sorted_keys {
    my ($hash) = @_;
    my $address = 0 + ${B::svref_2object($hash)};
    return $sorted{$address} ||= [sort keys %$hash];
}

sub spelled_key {
    my ($key) = @_;
    if ($key !~ /[^\x20-\x7e]/) {
        $key =~ s/([\\'])/\\$1/g;
        return "'$key'";
    }
    $key =~ s/([^\x20-\x7e]|[\\"\$\@])/sprintf '\\x{%x}', ord $1/ge;
    return qq("$key");
}

sub step_to {
    my ($ref, $step) = @_;
    my $held = held($ref);
    my $class = class_of_thing($held);
    return \$held->[$1] if $class eq 'AV' && $step =~ /^\[(\d+)\]$/;
    return \$held->{sorted_keys($held)->[$1]} if $class eq 'HV' && $step =~ /^\{(\d+)\}$/;
    return $held if $step eq '$';
    die "no such child\n";
}

# frame, root, name, start, count, steps. Without a name: the scope itself.
sub variables_reply {
    my ($n, $root, $name, $start, $count, @steps) = @_;
    return safe_variables(@_) if $root eq 'safe';
    if ($root ne 'kept' && $name eq '') {
        my @all = scope_of($n, $root);
        my $end = last_of($start, $count, scalar @all);
        my $total = @all;
        return {total => \"$total", variables => [
            map { row($_->[0], '', $_->[0], $_->[1]) } $start < $end ? @all[$start .. $end - 1] : ()
        ]};
    }
    my $ref = $root eq 'kept' ? $kept[$name] : variable_named($n, $root, $name);
    return list_children($ref, $start, $count, @steps);
}

sub list_children {
    my ($ref, $start, $count, @steps) = @_;
    $ref = step_to($ref, $_) for @steps;
    my $total = describe($ref)->{kids};
    return {total => \"$total", variables => [map { row(@$_) } children($ref, $start, $count)]};
}

sub variable_named {
    my ($n, $root, $name) = @_;
    my ($found) = grep { $_->[0] eq $name } scope_of($n, $root);
    return $found ? $found->[1] : die "no variable $name\n";
}

# JSON already: a page has hundreds. What is as the name says is left out.
sub row {
    my ($name, $step, $spelled, $ref) = @_;
    my $shown = describe($ref);
    my $text = '{"name":' . quoted($name) . ',"value":' . quoted($shown->{value})
        . ',"type":"' . $shown->{type} . '","kids":' . $shown->{kids};
    $text .= ',"step":' . quoted($step) if $step ne $name;
    $text .= ',"spelled":' . quoted($spelled) if $spelled ne $name;
    $text .= ',"reference":true' if $shown->{reference};
    return \"$text}";
}

# Completions ------------------------------------------------------------------------------

sub complete_reply {
    my ($n, $text) = @_;
    my $frame = (frames())[$n] or die "no frame $n\n";
    my ($word, @names) = possible($n, $frame, $text);
    my %seen;
    my @items = sort grep { index($_, $word) == 0 && length > length $word && !$seen{$_}++ } @names;
    $#items = 199 if @items > 200;
    my $length = length $word;
    return {items => \@items, length => \"$length"};
}

# The word that is typed already, and names that may stand there.
sub possible {
    my ($n, $frame, $text) = @_;
    return ($2, methods_of(class_named($1, $n, $frame))) if $text =~ /(\$?[\w:]+)->(\w*)$/;
    return $1 if $text =~ /->(\w*)$/;
    my ($word) = $text =~ /([\$\@%&]?[\w:]*)$/;
    my $call = $word =~ /^&/ ? '&' : '';
    if ($word =~ /^[\$\@%&]?([\w:]*\w)::\w*$/) {
        my $package = $1;
        my @variables = map { substr($_->[0], 0, 1) . "${package}::" . substr $_->[0], 1 }
            package_variables($package);
        return ($word, @variables, map { "$call${package}::$_" } subs_of($package));
    }
    my $package = $frame->{at}[0];
    my @variables = map { $_->[0] } locals_of($n, $frame), package_variables($package);
    return ($word, @variables, map { "$call$_" } subs_of($package));
}

sub subs_of {
    my ($package) = @_;
    return grep { /^[^\W\d]\w*$/ && defined &{"${package}::$_"} } keys %{"${package}::"};
}

sub methods_of {
    my @classes = @_;
    my %seen;
    for (my $i = 0; $i < @classes; $i++) {
        push @classes, @{"$classes[$i]::ISA"} if !$seen{$classes[$i]}++;
    }
    return map { subs_of($_) } keys %seen;
}

# A name of a class, or of a variable that holds an object.
sub class_named {
    my ($name, $n, $frame) = @_;
    return $name if $name !~ /^\$/;
    my ($found) = grep { $_->[0] eq $name } locals_of($n, $frame), package_variables($frame->{at}[0]);
    return if !$found || tied ${$found->[1]} || !ref ${$found->[1]};
    return ref ${$found->[1]};
}

1;
