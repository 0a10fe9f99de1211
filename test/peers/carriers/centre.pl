# A short message centre made of Net::SMPP: prints its port and every submission, and delivers a receipt for each.
use strict;
use warnings;
use Net::SMPP;

$| = 1;
my $password = shift // die 'usage: centre.pl <password>';
my $listener = Net::SMPP->new_listen('127.0.0.1', port => 0, smpp_version => 0x34, timeout => undef)
  or die "cannot listen: $!";
print 'port ', $listener->sockport, "\n";
my $ids = 0xa0;

while (my $session = $listener->accept) {
  my $reference = 0;
  while (my $pdu = $session->read_pdu) {
    my %answer = (seq => $pdu->{seq}, status => 0);
    if ($pdu->{cmd} == Net::SMPP::CMD_bind_transceiver) {
      my $refused = ($pdu->{password} // '') ne $password;
      $session->bind_transceiver_resp(%answer, status => $refused ? 0x0e : 0, system_id => 'perl');
    } elsif ($pdu->{cmd} == Net::SMPP::CMD_submit_sm) {
      my $id = sprintf '%x', ++$ids;
      print join(' ', 'submit', map { $_ // '' } $pdu->{source_addr}, $pdu->{destination_addr}, $pdu->{data_coding},
        $pdu->{esm_class}, $pdu->{registered_delivery}, $pdu->{validity_period}, unpack('H*', $pdu->{short_message})),
        "\n";
      $session->submit_sm_resp(%answer, message_id => $id);
      $session->deliver_sm(
        seq => ++$reference,
        async => 1,
        source_addr => $pdu->{destination_addr},
        destination_addr => $pdu->{source_addr},
        esm_class => 4,
        short_message => sprintf('id:%010d sub:001 dlvrd:001 submit date:2611220102 done date:2611220103 stat:DELIVRD err:000 text:', hex $id),
      );
    } elsif ($pdu->{cmd} == Net::SMPP::CMD_enquire_link) {
      $session->enquire_link_resp(%answer);
    } elsif ($pdu->{cmd} == Net::SMPP::CMD_unbind) {
      $session->unbind_resp(%answer);
    } elsif ($pdu->{cmd} == Net::SMPP::CMD_deliver_sm_resp) {
      print "acknowledged $pdu->{status}\n";
    }
  }
  close $session;
}
