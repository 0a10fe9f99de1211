<?php

// Tests a login with PHPUnit: the code that a customer gets by SMS is read from the outbox of `urtuu serve`.
// Needs `urtuu` on the PATH. Run it with: phpunit LoginCodeTest.php

declare(strict_types=1);

use PHPUnit\Framework\TestCase;

final class Api
{
    private string $baseUrl;
    private string $key;

    public function __construct(string $baseUrl, string $key)
    {
        $this->baseUrl = $baseUrl;
        $this->key = $key;
    }

    /** @return array{int, array} status and body */
    public function call(string $method, string $path, ?array $body = null): array
    {
        $context = stream_context_create(['http' => [
            'method' => $method,
            'header' => ["Authorization: Bearer {$this->key}", 'Content-Type: application/json'],
            'content' => $body === null ? '' : json_encode($body),
            'ignore_errors' => true,
            'timeout' => 30,
        ]]);
        $answer = fopen($this->baseUrl . $path, 'r', false, $context);
        $status = explode(' ', stream_get_meta_data($answer)['wrapper_data'][0])[1];
        return [(int) $status, json_decode(stream_get_contents($answer), true)];
    }
}

// The program under test. In production it gets another base URL and key, and sends to real people.
final class Login
{
    private Api $api;

    public function __construct(Api $api)
    {
        $this->api = $api;
    }

    public function sendCode(string $phone): string
    {
        [$status, $verification] = $this->api->call('POST', '/verify', ['to' => $phone]);
        if ($status !== 201) {
            throw new RuntimeException($verification['error']['message']);
        }
        return $verification['id'];
    }

    public function isRight(string $login, string $code): bool
    {
        [$status] = $this->api->call('POST', "/verify/$login/check", ['code' => $code]);
        return $status === 200;
    }
}

final class LoginCodeTest extends TestCase
{
    private static Api $api;
    private static string $folder;
    /** @var resource */
    private static $service;

    /** A service of this run alone: nothing that it sends leaves the machine. */
    public static function setUpBeforeClass(): void
    {
        $key = trim((string) shell_exec('urtuu keys example'));
        self::$folder = sys_get_temp_dir() . '/urtuu-' . bin2hex(random_bytes(8));
        $command = ['urtuu', 'serve', '--port', '0', '--data', self::$folder];
        self::$service = proc_open(
            [...$command, '--drain-time', '0', '-o', 'ndjson', '--quiet'],
            [1 => ['pipe', 'w'], 2 => STDERR],
            $pipes,
            null,
            ['URTUU_SANDBOX_KEY' => $key] + getenv()
        );
        $started = json_decode((string) fgets($pipes[1]), true);
        self::$api = new Api($started['base_url'], $key);
    }

    public static function tearDownAfterClass(): void
    {
        proc_terminate(self::$service);
        proc_close(self::$service);
        array_map('unlink', glob(self::$folder . '/*'));
        rmdir(self::$folder);
    }

    public function testACustomerLogsInWithTheCode(): void
    {
        $login = new Login(self::$api);
        $started = $login->sendCode('8811-2233');
        $message = $this->messageTo('88112233');
        $this->assertStringContainsString($message['code'], $message['text']);
        $wrong = substr($message['code'], 0, -1) . (substr($message['code'], -1) === '0' ? '1' : '0');
        $this->assertFalse($login->isRight($started, $wrong));
        $this->assertTrue($login->isRight($started, $message['code']));
        $this->assertFalse($login->isRight($started, $message['code']), 'a code is good once');
    }

    public function testEachLoginHasItsOwnCode(): void
    {
        $login = new Login(self::$api);
        $login->sendCode('9911-2233');
        $first = $this->messageTo('99112233');
        $again = $login->sendCode('9911-2233');
        $second = $this->messageTo('99112233', $first['message_id']);
        $this->assertTrue($login->isRight($again, $second['code']));
    }

    /** The newest message to a number; with `$after`, the first that came after that one. Waits up to 10 seconds. */
    private function messageTo(string $phone, ?string $after = null): array
    {
        $query = http_build_query(['to' => $phone, 'limit' => 1, 'after' => $after]);
        for ($try = 0; $try < 50; $try++) {
            [$status, $outbox] = self::$api->call('GET', "/outbox?$query");
            $this->assertSame(200, $status);
            if ($outbox['data'] !== []) {
                return $outbox['data'][0];
            }
            usleep(200_000);
        }
        $this->fail("no message to $phone");
    }
}
