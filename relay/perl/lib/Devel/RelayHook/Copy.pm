# Looking at the program happens in a copy of it: nothing there can change the original, not
# an iterator of a hash, not a flag of a number. One copy serves one stop, until a command
# comes that acts; that one goes back to the original.
# Part of the hook; refuses to know what is looked at.

package DB;

BEGIN {
    $^H |= 0x600;
    ${^WARNING_BITS} = "\0" x 20;
}

our (%number, %looks, $sock, @later);
our $in_copy = 0;
our $original;         # in a copy: where commands go back to
our $under_way;        # the command that is answered
our $seconds_left = '';    # of an evaluation that is begun again
my %moves = map { $_ => 1 } qw(continue in next out go detach kill);
my @ending;    # copies that served their stop

my $EVERY_CHILD = 0x40000000;    # __WALL: also children that end without a signal

# A child whose end sends no SIGCHLD and that the program's own wait() does not see.
# Unlike fork, this does not flush the program's buffers. Where it is not known, fork.
sub clone {
    return syscall($number{clone}, 0, 0, 0, 0, 0) if $number{clone};
    local $SIG{CHLD} = 'DEFAULT';
    my $child = fork;
    return defined $child ? $child : -1;
}

sub reap {
    my ($child) = @_;
    my $status = -1;
    while (1) {
        my $done = waitpid $child, $number{clone} ? $EVERY_CHILD : 0;
        next if $done == -1 && $! == 4;
        $status = $? if $done == $child;
        last;
    }
    return $status;
}

# At once: no END block, no destructor, no flush.
sub leave {
    syscall($number{exit}, 0) if $number{exit};
    kill 9, $$;
}

# Runs `$code->($pipe)` in a copy; returns the copy's pid and the end to read from.
sub spawn_copy {
    my ($code) = @_;
    pipe my $from, my $to or return;
    my $child = clone();
    return if $child < 0;
    if ($child == 0) {
        close $from;
        syscall($number{prctl}, 1, 9, 0, 0, 0) if $number{prctl};
        eval { $code->($to) };
        leave();
    }
    close $to;
    return ($child, $from);
}

# Serves looks until something else is asked for. Returns that command, for the original; what
# the copy has not come to stays in @later.
sub in_copy {
    my ($command) = @_;
    @ending = grep { waitpid($_, $EVERY_CHILD | 1) == 0 } @ending;
    my ($child, $from) = spawn_copy(sub { look_on($_[0], @$command) });
    if (!$child) {
        send_json({id => \"$command->[0]", error => "cannot copy the program: $!"});
        return;
    }
    @later = ();    # the copy has them
    my $data = '';
    while (length $data < 4 || length $data < 4 + unpack 'N', $data) {
        my $got = sysread $from, $data, 65536, length $data;
        next if !defined $got && $! == 4;
        last if !$got;
    }
    close $from;
    # The program need not wait for the copy's end; nothing but this hook can see it.
    if ($number{clone}) { push @ending, $child }
    else { reap($child) }
    if (length $data > 4) {
        ($seconds_left, my @packed) = fields_of(substr $data, 4);
        (my $next, @later) = map { [fields_of($_)] } @packed;
        return $next;
    }
    send_json({event => 'lost'});
    return;
}

sub look_on {
    my ($to, @command) = @_;
    ($in_copy, $original) = (1, $to);
    $SIG{__WARN__} = sub { };
    $SIG{__DIE__} = 'DEFAULT';
    prepare_look();
    while (@command) {
        my ($id, $name, @rest) = @command;
        hand_back('', \@command, @later) if !is_look($name);
        $under_way = \@command;
        forget_spelling_time();
        my $reply = answer($name, 1, @rest);
        $reply->{id} = \"$id";
        send_json($reply);
        @command = read_command();
    }
}

sub is_look { return $looks{$_[0]} || $_[0] eq 'stack' || $_[0] eq 'source' }

# The end of the copy: what it has read and cannot do goes to the original.
sub hand_back {
    my ($left, @commands) = @_;
    my $data = pack 'N/a*', pack '(N/a*)*', $left, map { pack '(N/a*)*', @$_ } @commands;
    my $at = 0;
    $at += syswrite $original, $data, length($data) - $at, $at while $at < length $data;
    leave();
}

# Asked for while an expression is evaluated, with so many seconds left for it. Looks have their
# answer now, other expressions when it is their turn. What moves the program gives this one up,
# as the adapter does; after anything else that acts, it is begun again: it has changed nothing.
sub overtake {
    my ($evaluator, $left) = @_;
    my @command = next_command();
    my ($id, $name, @rest) = @command;
    if (@command && is_look($name)) {
        return push @later, \@command if $name eq 'safe' || $name eq 'variables' && $rest[1] eq 'safe';
        my $reply = answer($name, 1, @rest);
        $reply->{id} = \"$id";
        return send_json($reply);
    }
    kill 9, $evaluator;
    reap($evaluator);
    leave() if !@command;    # the adapter is gone, as the original will see
    hand_back($left, \@command, $moves{$name} ? () : ($under_way, @later));
}

1;
