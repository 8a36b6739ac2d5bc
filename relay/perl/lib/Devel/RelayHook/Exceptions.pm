# Stops where the program dies. There is no handler while no filter is set.
# Part of the hook; refuses to know what happens at a stop.

package DB;

BEGIN {
    $^H |= 0x600;
    ${^WARNING_BITS} = "\0" x 20;
}

our ($pid, $busy, $single, $exception, %filters);
my %handlers;    # by their address: ours, and the program's that it stands for

# One for each handler of the program's: a `local` may bring an earlier one back.
sub watch_exceptions {
    my $now = $SIG{__DIE__};
    my $ours = ref $now eq 'CODE' ? $handlers{0 + $now} : undef;
    if (!%filters) {
        $SIG{__DIE__} = defined $ours->[1] ? $ours->[1] : 'DEFAULT' if $ours;
        return;
    }
    return if $ours;
    my $handler = sub {
        stop_where_it_dies($_[0]);
        my $next = code_of($now) or return;
        goto &$next;
    };
    $handlers{0 + $handler} = [$handler, $now];
    $SIG{__DIE__} = $handler;
}

sub code_of {
    my ($handler) = @_;
    return if !defined $handler || $handler eq '' || $handler eq 'DEFAULT' || $handler eq 'IGNORE';
    return ref $handler ? $handler : \&{$handler =~ /::|'/ ? $handler : "main::$handler"};
}

sub stop_where_it_dies {
    my ($error) = @_;
    my $caught = $^S;
    if ($pid && $$ == $pid && !$busy && defined $caught && $filters{$caught ? 'caught' : 'uncaught'}) {
        local $busy = 1;
        save();
        $exception = $error;
        stop({
            reason => 'exception', text => short(eval { "$error" }), class => ref $error || '',
            caught => $caught ? \'true' : \'false',
        });
        restore();
    }
}

sub short {
    return 'an exception without a text' if !defined $_[0];
    return length $_[0] > 2000 ? substr($_[0], 0, 2000) . "\x{2026}" : $_[0];
}

1;
