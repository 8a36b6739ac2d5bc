# The link to the adapter: one socket, told by SIGURG when there is something to read.
# Part of the hook; refuses to know commands.

package DB;

BEGIN {
    $^H |= 0x600;
    ${^WARNING_BITS} = "\0" x 20;
}

our ($sock, $tcp, $pid, $arch, %number, %bps, %pending, %filters);
our ($mode, $single, $resume, $configured, $nested, @named);

# The link: 4 bytes of length, then fields (in) or one JSON object (out) ------------------

# An adapter that is gone must not end the program by SIGPIPE.
my $NO_SIGNAL = $^O eq 'linux' ? 0x4000 : 0;

sub send_json {
    my $text = json($_[0]);
    my $data = pack('N/a*', $text);
    while (length $data) {
        my $wrote = send $sock, $data, $NO_SIGNAL;
        if (!defined $wrote) { next if $! == 4 || $! == 11; gone(); return }
        substr $data, 0, $wrote, '';
    }
}

sub json {
    my ($value) = @_;
    return 'null' if !defined $value;
    my $kind = ref $value;
    return $$value if $kind eq 'SCALAR';    # a literal: number, true, false
    return '[' . join(',', map { json($_) } @$value) . ']' if $kind eq 'ARRAY';
    return '{' . join(',', map { quoted($_) . ':' . json($value->{$_}) } keys %$value) . '}'
        if $kind eq 'HASH';
    return quoted($value);
}

sub quoted {
    my $text = "$_[0]";
    return qq("$text") if $text !~ /[^\x20\x21\x23-\x5b\x5d-\x7e]/;
    $text =~ s/([^\x{0}-\x{d7ff}\x{e000}-\x{10ffff}])/sprintf '\\x{%x}', ord $1/ge;
    $text =~ s/(["\\\x00-\x1f\x7f])/sprintf '\\u%04x', ord $1/ge;
    utf8::encode($text);
    return qq("$text");
}

sub read_exactly {
    my ($size) = @_;
    my $data = '';
    while (length $data < $size) {
        my $got = sysread($sock, $data, $size - length $data, length $data);
        next if !defined $got && ($! == 4 || $! == 11);
        return undef if !$got;
    }
    return $data;
}

our @later;    # commands that were read while there was no time for them

# The next command as a list: id, name, arguments. Empty at the end of the link.
sub read_command { return @later ? @{shift @later} : next_command() }

sub next_command {
    my $size = read_exactly(4);
    my $data = defined $size ? read_exactly(unpack 'N', $size) : undef;
    return if !defined $data;
    return fields_of($data);
}

sub fields_of {
    my ($clean) = $_[0] =~ /\A(.*)\z/s;    # what the adapter says is not tainted
    return unpack '(N/a*)*', $clean;
}

sub readable { return @later || news() }

sub news {
    my $set = '';
    vec($set, fileno($sock), 1) = 1;
    return select($set, undef, undef, 0) > 0;
}

# The other side is gone. What was launched for it ends; what was attached to goes on alone.
sub gone {
    if (!$tcp) {
        kill 9, -$$ if getpgrp() == $$;
        kill 9, $$;
    }
    detach();
}

sub detach {
    place($_, {}) for keys %bps;
    %pending = %filters = @named = ();
    close $sock;
    ($sock, $pid, $mode, $single, $resume, $configured) = (undef, 0, 'run', 0, 1, 1);
    unhook_calls() if !$nested;
}

# Numbers of system calls, where they are known.
sub learn_system {
    my $head = '';
    if ($^O eq 'linux' && open my $self, '<', '/proc/self/exe') {
        binmode $self;
        read $self, $head, 20;
    }
    my $machine = length $head == 20 ? unpack 'x18 v', $head : 0;
    $arch = $machine == 0x3e ? 'x86_64' : $machine == 0xb7 ? 'aarch64' : '';
    %number = $arch eq 'x86_64' ? (clone => 56, prctl => 157, sigprocmask => 14, exit => 231)
        : $arch eq 'aarch64' ? (clone => 220, prctl => 167, sigprocmask => 135, exit => 94) : ();
}

sub connect_up {
    my ($how, $where) = @_;
    if ($how eq 'listen') { $tcp = 1; $sock = accepted($where) }
    else { open $sock, '+<&=', $where or die "RelayHook: no descriptor $where: $!\n" }
    binmode $sock;
    fcntl($sock, 2, 1);    # closed on exec
    $pid = $$;
    $SIG{URG} = \&urgent;
    fcntl($sock, 8, $$);           # whom to tell
    fcntl($sock, 10, 23);          # by SIGURG
    fcntl($sock, 4, 2 | 0x2000);   # that there is something to read
    syscall($number{prctl}, 1, 9, 0, 0, 0) if !$tcp && $number{prctl};
}

sub accepted {
    my ($where) = @_;
    my ($host, $port) = $where =~ /^(?:(\d+\.\d+\.\d+\.\d+):)?(\d+)$/
        or die "RelayHook: listen takes PORT or ADDRESS:PORT, not $where\n";
    my $address = pack 'C4', split /\./, $host || '127.0.0.1';
    my $door;
    socket($door, 2, 1, 6) && setsockopt($door, 1, 2, 1)
        && bind($door, pack 'S n a4 x8', 2, $port, $address) && listen($door, 1)
        or die "RelayHook: cannot listen on $where: $!\n";
    accept(my $link, $door) or die "RelayHook: accept: $!\n";
    setsockopt($link, 6, 1, 1);
    return $link;
}

1;
