# Stops where the program dies. There is no handler while no filter is set.
# Part of the hook; refuses to know what happens at a stop.

package DB;

BEGIN {
    $^H |= 0x600;
    ${^WARNING_BITS} = "\0" x 20;
}

our ($pid, $busy, $single, $exception, %filters);
our $previous;    # the program's own handler

sub watch_exceptions {
    my $now = $SIG{__DIE__};
    my $ours = ref $now && $now == \&died;
    if (!%filters) {
        $SIG{__DIE__} = defined $previous ? $previous : 'DEFAULT' if $ours;
        return;
    }
    return if $ours;
    $previous = $now;
    $SIG{__DIE__} = \&died;
}

sub died {
    my $caught = $^S;
    if ($pid && $$ == $pid && !$busy && defined $caught && $filters{$caught ? 'caught' : 'uncaught'}) {
        local $busy = 1;
        save();
        my $error = $_[0];
        $exception = $error;
        stop({
            reason => 'exception', text => short(eval { "$error" }), class => ref $error || '',
            caught => $caught ? \'true' : \'false',
        });
        restore();
    }
    my $next = $previous;
    return if !defined $next || $next eq '' || $next eq 'DEFAULT' || $next eq 'IGNORE';
    $next = \&{$next =~ /::|'/ ? $next : "main::$next"} if !ref $next;
    goto &$next;
}

sub short {
    return 'an exception without a text' if !defined $_[0];
    return length $_[0] > 2000 ? substr($_[0], 0, 2000) . "\x{2026}" : $_[0];
}

1;
