# Breakpoints: files, lines that have code, conditions, hit counts, log messages.
# Part of the hook; refuses to know steps and values.

package DB;

BEGIN {
    # Conditions are compiled here, in the program's scope: strict refs and vars are its choice.
    $^H &= ~0x602;
    ${^WARNING_BITS} = "\0" x 20;
}

our ($pid, $busy, $single, %bps, %pending, %names, %reals, $here, $place, @saved);
our ($expression, $message);    # what is evaluated there, and the log message that it is part of
our ($hints, $hint_hash);
our (@dbline, %dbline);
our (%doing, $expecting, %sub);
our @named;    # breakpoints on subs; `path` and `line` once the sub is known

my $FURTHEST = 5;    # lines by which a breakpoint may move forward
my $STRICT = 0x602;    # refs, subs and vars
my $COMMON = 0x8007e2;    # the program's `use strict` and `use utf8`, which cost nothing to follow

sub cwd {
    my $here = readlink '/proc/self/cwd';
    return $here if defined $here;
    require Cwd;
    return Cwd::getcwd();
}

# The path without links, as it was when the file was loaded: the program may go elsewhere.
sub real {
    my ($path) = @_;
    $path = cwd() . "/$path" if $path !~ m{^/};
    my @left = split m{/+}, $path;
    my ($done, $links) = ('', 0);
    while (@left) {
        my $part = shift @left;
        next if $part eq '' || $part eq '.';
        if ($part eq '..') { $done =~ s{/[^/]*$}{}; next }
        my $link = $links < 40 ? readlink "$done/$part" : undef;
        if (defined $link) {
            $links++;
            $done = '' if $link =~ m{^/};
            unshift @left, split m{/+}, $link;
        }
        else { $done .= "/$part" }
    }
    return $done eq '' ? '/' : $done;
}

sub arrived {
    my ($name) = @_;
    my $path = real($name);
    ($names{$path}, $reals{$name}) = ($name, $path);
    my @found = locate();
    watch_for_files();
    my %touched = map { $_->{path} => 1 } @found;
    $touched{$path} = 1 if $pending{$path} || grep { ($_->{path} || '') eq $path } @named;
    return if !%touched;
    my @lines = map { @{install($_)} } keys %touched;
    send_json({event => 'bound', lines => \@lines, functions => [map { told_place($_) } @found]});
}

# path, then id, line, condition, hit operator, hit number, log message for each breakpoint.
sub set_breakpoints {
    my ($path, @flat) = @_;
    my @wanted;
    while (my ($id, $line, $when, $operator, $hits, $log) = splice @flat, 0, 6) {
        push @wanted, {
            id => $id, line => $line, when => $when, operator => $operator, hits => $hits,
            log => $log, count => 0,
        };
    }
    $pending{$path} = \@wanted;
    watch_for_files();
    return {loaded => \'false', lines => []} if !exists $names{$path};
    return {loaded => \'true', lines => install($path)};
}

# id, name, condition, hit operator, hit number for each breakpoint on a sub.
sub set_functions {
    my (@flat) = @_;
    my %touched = map { $_->{path} => 1 } grep { $_->{path} } @named;
    @named = ();
    while (my ($id, $name, $when, $operator, $hits) = splice @flat, 0, 5) {
        $name = "main::$name" if index($name, '::') < 0;
        $name = shown($name);    # under `use utf8` names are text
        push @named, {
            id => $id, name => $name, when => $when, operator => $operator, hits => $hits,
            log => '', count => 0,
        };
    }
    my @found = locate();
    $touched{$_->{path}} = 1 for @found;
    install($_) for keys %touched;
    watch_for_files();
    return {functions => [map { told_place($_) } @found]};
}

# Those whose subs have come to be known: where the first statement of each is.
sub locate {
    my @found;
    for my $point (grep { !$_->{path} } @named) {
        my ($file, $first, $last) = ($sub{$point->{name}} || '') =~ /^(.*):(\d+)-(\d+)$/s or next;
        my $path = $reals{$file} or next;
        my $line = nearest($file, $first, $last) or next;
        ($point->{path}, $point->{line}) = ($path, $line);
        push @found, $point;
    }
    return @found;
}

sub told_place {
    my ($point) = @_;
    return {id => \$point->{id}, file => shown($point->{path}), line => \$point->{line}};
}

sub install {
    my ($path) = @_;
    my $name = $names{$path};
    my (%new, @lines);
    for my $point (@{$pending{$path} || []}) {
        my $line = nearest($name, $point->{line}, $point->{line} + $FURTHEST);
        push @{$new{$line}}, $point if $line;
        push @lines, {id => \$point->{id}, line => \$line};
    }
    push @{$new{$_->{line}}}, $_ for grep { ($_->{path} || '') eq $path } @named;
    place($name, \%new);
    return \@lines;
}

sub nearest {
    my ($name, $first, $last) = @_;
    return 0 if !exists $main::{"_<$name"};
    local *dbline = $main::{"_<$name"};
    for my $n ($first .. $last) {
        return $n if $n <= $#dbline && has_statement($dbline[$n]);
    }
    return 0;
}

# Perl keeps the address of a statement as the number of its line's text. A few lines, as the
# second one of a `use`, have no number but what their text begins with ("42,", "INFO => 1"):
# to set a flag there would be to write to that address.
sub has_statement {
    my ($line) = @_;
    return if !defined $line;
    my $text = "$line";
    return $line == $line && $line != 0 && $line != $text;
}

# Perl's own flag on the statement: lines without a breakpoint cost nothing.
sub place {
    my ($name, $new) = @_;
    return if !exists $main::{"_<$name"};
    local *dbline = $main::{"_<$name"};
    for my $line (keys %{$bps{$name} || {}}) {
        next if $new->{$line} || $doing{$name}{$line};
        $dbline{$line} = 0;
        delete $dbline{$line};
    }
    $dbline{$_} = 1 for keys %$new;
    $bps{$name} = $new;
    return;
}

# Files that come by `do` ------------------------------------------------------------------

# Perl tells of files that come by `require` (postponed), and of no others. So while a
# breakpoint waits for a file, the program is also looked at where it says `do`.
sub watch_for_files {
    return if !grep({ !exists $names{$_} && @{$pending{$_}} } keys %pending)
        && !grep { !$_->{path} } @named;
    watch_file($_) for grep { !$doing{$_} } keys %reals;
}

sub watch_file {
    my ($name) = @_;
    $doing{$name} = {};
    return if !exists $main::{"_<$name"};
    local *dbline = $main::{"_<$name"};
    for my $n (1 .. $#dbline) {
        next if !defined $dbline[$n] || index($dbline[$n], 'do') < 0;
        next if $dbline[$n] !~ /^[^#]*(?<![\w\$\@%&:>])do\b(?!\s*[{=,;])/;
        my $line = $n;
        $line-- while $line && !has_statement($dbline[$line]);
        next if !$line;
        $doing{$name}{$line} = 1;
        $dbline{$line} = 1;
    }
}

# From such a place on, statement by statement, until the first one of a file or a later one here.
sub expect_file {
    my ($file, $line) = @_;
    if (!defined $expecting) {
        $expecting = frames_below() if $doing{$file} && $doing{$file}{$line};
    }
    elsif ((caller 2)[7]) {
        $expecting = undef;
        arrived($file);
    }
    elsif (!($doing{$file} && $doing{$file}{$line}) && frames_below() <= $expecting) {
        $expecting = undef;
    }
    $single = 1 if defined $expecting;
}

sub lines_of {
    my ($name) = @_;
    return if !exists $main::{"_<$name"};
    local *dbline = $main::{"_<$name"};
    return @dbline[1 .. $#dbline];
}

# The ids of the breakpoints at `$here` that stop now. Called with the frame's own @_.
sub due {
    my @ids;
    for my $point (@$here) {
        if (length $point->{when}) {
            ($expression, $message) = $point->{when};
            my $true = &in_scope;
            complain($point, $@), push(@ids, $point->{id}), next if $@;
            next if !$true;
        }
        next if !counted($point);
        $message = $point->{log};
        if (length $message) { &log_message }
        else { push @ids, $point->{id} }
    }
    return @ids;
}

sub counted {
    my ($point) = @_;
    my $count = ++$point->{count};
    my ($operator, $hits) = @$point{qw(operator hits)};
    return 1 if $operator eq '';
    return $operator eq '==' ? $count == $hits : $operator eq '>' ? $count > $hits
        : $operator eq '>=' ? $count >= $hits : $operator eq '<' ? $count < $hits
        : $operator eq '<=' ? $count <= $hits : $count % $hits == 0;
}

# Perl compiles a string eval of this package in the scope of the statement that stopped.
# Out of a sort's block Perl lets no `last`, `next` or `goto`: they are not to leave the loops
# that are around it, the hook's own and the program's. A child that it forks ends here.
sub in_scope {
    local $SIG{__DIE__};
    local $^P = 0;
    my $text = text_in_scope();
    ($@, $!, $?) = @saved;
    my $value;
    if ($hints & $STRICT) { my @walled = sort { BEGIN { $^H |= 0x602 } $value = eval $text; 0 } 1, 2 }
    else { my @walled = sort { $value = eval $text; 0 } 1, 2 }
    leave() if $$ != $pid;
    return if $@;
    # An object's own operators may die.
    return eval { !defined $message ? $value ? 1 : 0 : defined $value ? shown("$value") : 'undef' };
}

# The expression under the rules of the statement there: `use strict`, `use integer`, features.
sub text_in_scope {
    ($hints, undef, $hint_hash) = @$place[3 .. 5];
    my $text = $expression;
    utf8::decode($text) if $hints & 0x00800000;
    my $strict = $hints & $STRICT;
    my $rules = !$hint_hash && !($hints & ~$COMMON) && (!$strict || $strict == $STRICT) ? ''
        : 'BEGIN { $^H = $DB::hints; %^H = $DB::hint_hash ? %$DB::hint_hash : () }';
    return "package $place->[0];$rules\n#line 1 \"expression\"\n$text";
}

sub log_message {
    my $text = '';
    for my $part (parts_of($message)) {
        $expression = braced($part);
        if (!defined $expression) { $text .= shown($part); next }
        my $value = &in_scope;
        $text .= $@ ? "{" . trimmed($@, $expression) . "}" : $value;
    }
    send_json({event => 'log', text => $text, file => shown($reals{$place->[1]}), line => \"$place->[2]"});
}

sub parts_of { return split /(\{(?:[^{}]|\{[^{}]*\})*\})/, $_[0] }
sub braced { return $_[0] =~ /^\{(.*)\}$/s ? $1 : undef }

sub complain {
    my ($point, $why) = @_;
    my $text = "Condition '$point->{when}' failed: " . trimmed($why, $point->{when});
    send_json({event => 'log', text => $text, file => shown($reals{$place->[1]}), line => \"$place->[2]"});
}

# What Perl says of an expression, in lines of the client's text: what is put around it is ours.
sub trimmed {
    my ($text, $expression) = @_;
    $expression =~ s/\s+\z//;
    my $lines = 1 + $expression =~ tr/\n//;
    $text = "$text";
    $text =~ s{ at expression line (\d+)(, at (?:EOF|end of line))?(?:, <[^>\n]*> (?:line|chunk) \d+)?\.?}
        {$1 > $lines ? ($2 ? ' at the end of the expression' : '') : $lines > 1 ? " in line $1" : ''}ge;
    $text =~ s/(, near "[^\n]*?)\s*\n[)}]?"$/$1"/gm;
    $text =~ s/\s+\z//;
    return $text;
}

# Bytes that are UTF-8 are shown as the text that they are; Perl itself does not say.
sub shown {
    my ($text) = @_;
    utf8::decode($text) if !utf8::is_utf8($text);
    return $text;
}

1;
