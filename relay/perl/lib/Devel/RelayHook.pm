# The debugger's side that lives in the program: `perl -d:RelayHook=fd,N` or `=listen,HOST:PORT`.
#
# Knows statements, breakpoints, steps and the link to the adapter. Refuses to look at values:
# that happens in a forked copy (Look.pm), so that looking cannot change the program.
# Loads no module, and leaves nothing in @INC or %INC: the program must not notice.

package DB;

BEGIN {
    # Nothing below is debugged, and neither strict.pm nor warnings.pm is loaded for it.
    $^P = 0;
    $^H |= 0x600;
    ${^WARNING_BITS} = "\0" x 20;
}

our ($single, $sub, %sub);
our $pid;           # the process that is debugged; a forked child of it is left alone
our $sock;          # the link
our $tcp;           # attached: the end of the link is not the end of the program
our $busy = 1;      # the hook's own work: no stops
our $mode = 'run';  # run, in, next, out, entry, pause
my %at_once = (in => 1, entry => 1, pause => 1);
our $records = 0;   # caller's records from the frame that is stepped in, or out of, outward
our $nested = 0;    # calls of DB::sub that hold a `local $single`
our $configured = 0;
our $resume;        # set by a command that lets the program go on
our $records_found; # the stack at this stop, or undef
our $beyond = 0;    # records of it that were not walked
my $MOST_RECORDS = 25_000;
our $frame_args;    # @_ of the innermost frame
our @saved;         # $@, $!, $?, $^E of the program
our @kept;          # values that side effects gave, for this stop
our (%bps, %pending, %names, %filters, $exception, %doing, $expecting);
our ($arch, %number, $here, $place);
our $no_seccomp = 0;
our $module = 'Devel/RelayHook.pm';
our ($dir, @inc, $script);      # where this file is, and what the program was started with
our @libraries;     # directories of what others wrote, each with a slash at its end
our $program_mask;   # signals that the program itself blocks
our $effect = 0;    # an expression with side effects runs
our @later;

# Where the program stands -----------------------------------------------------------------

# No pattern may match here, nor in what calls an expression: $1 is the program's.
# Two processes share the link when the program forks: only the first is debugged.
sub DB {
    return if $$ != $pid || $busy || ${^GLOBAL_PHASE} eq 'DESTRUCT';
    local $busy = 1;
    my ($package, $file, $line) = caller;
    expect_file($file, $line) if %doing;
    if ($single && $mode eq 'run' && !defined $expecting) {
        $single = 0;
        unhook_calls() if !$nested;
    }
    local $here = $bps{$file} && $bps{$file}{$line};
    return if !$here && (!$single || $mode eq 'run');
    return if !$here && $mode eq 'out' && defined caller($records);
    return if !$here && $mode eq 'next' && is_deeper();
    $frame_args = \@_;
    save();
    local $place = $here && [$package, $file, $line, (caller 0)[8 .. 10]];
    my @ids = $here ? &due : ();
    my $done = $single && ($at_once{$mode}
        || ($mode eq 'out' ? !defined caller($records) : !is_deeper()));
    if (@ids) { stop({reason => 'breakpoint', ids => [map { \"$_" } @ids]}) }
    elsif ($done) { stop({reason => $mode eq 'entry' || $mode eq 'pause' ? $mode : 'step'}) }
    restore();
    return;
}

# A string eval and a file are frames of their own, an eval block is none.
sub frames_below {
    my $count = 0;
    for (my $i = 2; my @call = caller $i; $i++) {
        $count++ if $call[3] ne '(eval)' || defined $call[6];
    }
    return $count;
}

# Whether a frame lies above the one that is stepped in. Of a deep stack only these are counted:
# what `caller` has to pass makes a count of all take the square of its depth.
sub is_deeper {
    for (my $i = 2; my @call = caller $i; $i++) {
        return defined caller($i + $records) if $call[3] ne '(eval)' || defined $call[6];
    }
    return 0;
}

# While a sub is stepped over or out of, every call comes through here, and the callees'
# statements are not looked at. `local` is undone by return and die alike. No `goto`: a sub
# that is written in C would take its context, which is not that of the call.
sub through {
    return &$sub if !$single;
    local $nested = $nested + 1;
    local $single = 0;
    &$sub;
}

sub through_lvalue : lvalue {
    local $nested = $nested + 1;
    local $single = 0;
    &$sub;
}

sub hook_calls {
    *DB::sub = \&through;
    *DB::lsub = \&through_lvalue;
}

# Perl calls subs directly only while the slot is empty; the other slots must survive.
sub unhook_calls {
    my $subs = \%sub;
    undef *DB::sub;
    undef *DB::lsub;
    *DB::sub = $subs;
}

sub save { @saved = ($@, $! + 0, $?) }
# What is kept longer would have an object in $@ end too late.
sub restore {
    ($@, $!, $?) = @saved;
    @saved = ();
}

# The caller's records that belong to the program, innermost first:
# [package, file, line, sub called there, evaltext, is_require, hints, warnings, %^H, has_args]
# Of a recursion without end the first ones: what `caller` has to pass makes a walk take the square of its length.
sub walk_stack {
    my @found;
    my $i = 0;
    for (; @found < $MOST_RECORDS; $i++) {
        my @call = caller $i or last;
        next if $call[0] eq 'DB' && !@found;
        push @found, [@call[0 .. 3, 6 .. 10], $call[4]];
    }
    $beyond = @found < $MOST_RECORDS ? 0 : records_from($i + 1);
    return \@found;
}

# How many records there are from the caller's one of that number on.
sub records_from {
    my ($first) = @_;
    my ($count, $step) = (0, 1);
    $step *= 2 while defined caller($first + $step - 1);
    for (; $step >= 1; $step /= 2) {
        $count += $step if defined caller($first + $count + $step - 1);
    }
    return $count;
}

sub stop {
    my ($why) = @_;
    my $calls = walk_stack();
    $records_found = $calls;
    $single = 0;
    unhook_calls() if !$nested;
    flush_output();
    local $program_mask = block_signals();
    $why->{event} = 'stopped';
    $why->{file} = $calls->[0][1];
    $why->{line} = \"$calls->[0][2]";
    send_json($why);
    $resume = undef;
    serve(1) until $resume;
    @kept = ();
    $records_found = $exception = $frame_args = undef;
    watch_exceptions();
    unblock_signals($program_mask);
    look_again();
}

# What was printed is seen at the stop. Tied handles are the program's own business.
sub flush_output {
    for my $handle (*STDOUT, *STDERR) {
        next if tied *$handle || !defined fileno $handle;
        my $old = select $handle;
        my $was = $|;
        $| = 1;
        $| = $was;
        select $old;
    }
}

sub block_signals {
    return if !$number{sigprocmask};
    my ($all, $old) = ("\xff" x 8, "\0" x 8);
    syscall($number{sigprocmask}, 2, $all, $old, 8);
    return $old;
}

sub unblock_signals {
    my ($mask) = @_;
    syscall($number{sigprocmask}, 2, $mask, 0, 8) if defined $mask;
}

# No signal tells of what came while a read was waited in: a client that lets the program go
# and at once sets a breakpoint must not be left with silence.
sub look_again { kill 23, $$ if $sock && readable() }

# Commands ---------------------------------------------------------------------------------

our %commands = (
    breakpoints => \&set_breakpoints,
    functions => \&set_functions,
    exceptions => sub { %filters = map { $_ => 1 } @_; watch_exceptions(); return {} },
    go => sub { $configured = 1; $mode = $_[0] ? 'entry' : 'run'; $resume = 1; return {} },
    pause => sub { return {} },
    continue => sub { return move('run') },
    in => sub { return move('in') },
    next => sub { return move('next') },
    out => sub { return move('out') },
    stack => \&stack_reply,
    source => sub { return {text => join '', map { defined $_ ? $_ : '' } lines_of($_[0])} },
    detach => sub { return {} },
    kill => sub { kill 9, $$ },
);
our %looks = (variables => 1, safe => 1, complete => 1, look => 1);

# One command. What it dies of is an answer: it must not end the program.
sub serve {
    my ($stopped) = @_;
    my @command = @_ > 1 ? @{$_[1]} : read_command();
    return gone() if !@command;
    my ($id, $name, @rest) = @command;
    if ($looks{$name} && $stopped) {
        my $next = in_copy(\@command) or return;
        return serve($stopped, $next);
    }
    my $reply = answer($name, $stopped, @rest);
    $reply->{id} = \"$id";
    send_json($reply);
    detach() if $name eq 'detach';
    return $name;
}

sub answer {
    my ($name, $stopped, @rest) = @_;
    my $code = $commands{$name} or return {error => "no command $name"};
    return {error => 'the program runs'}
        if !$stopped && $name =~ /^(continue|in|next|out|stack|effects)$/;
    local $SIG{__DIE__};
    local $^P = 0;
    my $reply = eval { $code->(@rest) };
    return $reply || {error => "$@"};
}

sub move {
    my ($how) = @_;
    $mode = $how;
    my @calls = @{$records_found || []};
    my ($inner) = grep { !is_block($calls[$_]) } 1 .. $#calls;
    $records = $inner ? @calls + $beyond - $inner : 0;
    $mode = 'run' if $how eq 'out' && !$inner;
    $single = $mode eq 'run' && !defined $expecting ? 0 : 1;
    if ($mode eq 'next' || $mode eq 'out') { hook_calls() }
    elsif (!$nested) { unhook_calls() }
    $resume = 1;
    return {};
}

# The adapter said something while the program runs, or the adapter is gone.
sub urgent {
    return if !$pid || $$ != $pid;
    return interrupt() if $effect;
    # In the middle of the hook's own work: once more as soon as that is over.
    return kill 23, $$ if $busy;
    local $busy = 1;
    save();
    my $pause = 0;
    while ($sock && readable()) {
        $pause = 1 if (serve(0) || '') eq 'pause';
    }
    if ($pause && $sock) {
        # Between the start of Perl and that of the program there is no place to stop at, nor past
        # its last statement: a signal ends a sleep that was that.
        my $calls = walk_stack();
        if (@$calls && $calls->[0][2]) { stop({reason => 'pause'}) }
        else { ($mode, $single) = ('pause', 1) }
    }
    restore();
}

# What takes too long with side effects is left as `die` would leave it. All else has time.
sub interrupt {
    while ($sock && news()) {
        my @command = next_command() or return gone();
        die "timeout\n" if $command[1] eq 'cancel';
        push @later, \@command;
    }
}

# The start --------------------------------------------------------------------------------

sub import_hook {
    my (undef, $how, $where, @options) = @_;
    return read_again() if $pid;
    $INC{$module} = __FILE__ if is_read_twice($0);
    $no_seccomp = grep { $_ eq 'noseccomp' } @options;
    save();
    $script = $0;
    learn_system();
    learn_libraries();
    give_back_perl5db() if !exists $INC{$module};
    connect_up($how || '', $where);
    send_json({
        event => 'hello', pid => \"$$", version => sprintf('%vd', $^V), cwd => cwd(),
        program => real($0), seccomp => $arch eq 'x86_64' && !$no_seccomp ? \'true' : \'false',
    });
    restore();
    $busy = 0;
    # Statements, saved source, where subs are; without 0x100 and 0x200, which rename evals
    # and anonymous subs in the messages that the program prints.
    $^P = 0x43b;
    $single = 0;
}

*Devel::RelayHook::import = \&import_hook;

# With -n or -p in its first line, perl begins the program anew, and with it this module.
sub is_read_twice {
    my ($program) = @_;
    open my $file, '<', $program or return;
    sysread $file, my $head, 200;
    return $head =~ /^#!.*perl.*\s-[acdflnpstTuUvwWX0-7]*[np]/;
}

# What perl asks its environment for is there no more: the module needs not be read again.
sub read_again {
    delete $INC{$module};
    give_back_perl5db();
}

# perl writes what -d:RelayHook means into PERL5DB. The program and its children have their own.
sub give_back_perl5db {
    my @words;
    if (open my $file, '<', '/proc/self/environ') {
        local $/ = "\0";
        @words = grep { index($_, 'PERL5DB=') == 0 } <$file>;
        chomp @words;
    }
    if (@words) { $ENV{PERL5DB} = substr $words[0], 8 }
    else { delete $ENV{PERL5DB} }
}

# Those that perl itself names: in @INC they follow what the user put there, and Config.pm,
# which lies in one of them, says where they begin.
sub learn_libraries {
    my (%named, $begun);
    for my $directory (@inc) {
        open my $file, '<', "$directory/Config.pm" or next;
        my @found = map { /^\s*(?:archlib|privlib|sitearch|sitelib)exp => '(.+)',$/ ? $1 : () } <$file>;
        %named = map { $_ => 1 } @found if grep { $_ eq $directory } @found;
    }
    my %own = map { $_ => 1 } grep { !$named{$_} } split /:/, $ENV{PERL5LIB} || '';
    @libraries = map { "$_/" } grep { ($begun ||= $named{$_}) && m{^/} && !$own{$_} } @inc;
}

sub is_library {
    my ($name) = @_;
    return scalar grep { index($name, $_) == 0 } @libraries;
}

# Until the adapter has set everything up, the program does not run.
sub wait_for_go {
    return if $configured || !$pid;
    send_json({event => 'ready'});
    my $mask = block_signals();
    serve(0) until $configured;
    unblock_signals($mask);
    look_again();
}

# A file was compiled and is about to run.
sub postponed {
    my $glob = \$_[0];
    return if ref $glob ne 'GLOB' || !$pid || $$ != $pid || $busy;
    local $busy = 1;
    my @was = ($@, $! + 0, $?);
    my $name = *$glob{NAME} || '';
    if ($name =~ s/^_<//) {
        arrived($name);
        wait_for_go() if !is_library($name);
    }
    ($@, $!, $?) = @was;
}

# Before the first statement of the program, after all of its `use`.
sub begin {
    return if !$pid || $$ != $pid;
    local $busy = 1;
    my @was = ($@, $! + 0, $?);
    arrived($script);
    send_json({event => 'compiled'});
    wait_for_go();
    watch_exceptions();
    ($@, $!, $?) = @was;
}

sub finish {
    return if !$pid || $$ != $pid || !$sock;
    local $busy = 1;
    my @was = ($@, $! + 0, $?);
    send_json({event => 'exit', code => \($? & 255)}) if $tcp;
    ($@, $!, $?) = @was;
}

# Perl calls this in each thread that begins, in its own copy of everything: there is one link,
# and it is the program's.
sub CLONE {
    ($pid, $single, $sock) = (0, 0);
    unhook_calls();
}

INIT { begin(); $single = 1 if $mode eq 'entry' }
END { finish() }

($dir) = __FILE__ =~ m{^(.*)/Devel/RelayHook\.pm$};
@inc = @INC = grep { $_ ne $dir } @INC;
delete $INC{$module};
do "$dir/Devel/RelayHook/$_.pm" || die $@ || $! for qw(Link Lines Exceptions Copy Look Values Safe);
delete $INC{"$dir/Devel/RelayHook/$_.pm"} for qw(Link Lines Exceptions Copy Look Values Safe);

1;
