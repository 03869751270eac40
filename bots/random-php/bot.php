<?php
// Plays a random legal action in any game: PHP, no packages.
declare(strict_types=1);

final class Bot
{
    private int $random = 1; // the state of an xorshift64 generator: never zero

    public function play(): void
    {
        while (($line = fgets(STDIN)) !== false) {
            $message = json_decode($line, associative: true, flags: JSON_THROW_ON_ERROR);
            switch ($message['type']) {
                case 'hello':
                    $this->send(['type' => 'hello', 'protocol' => 1, 'wants' => ['legal'], 'reusable' => true]);
                    break;
                case 'start':
                    // The referee's seed makes a match reproducible; its first 16 hex digits are 64 bits.
                    $digits = str_pad(substr($message['seed'], 0, 16), 16, '0', STR_PAD_LEFT);
                    $this->random = unpack('J', hex2bin($digits))[1] ?: 1;
                    $this->send(['type' => 'ready']);
                    break;
                case 'act':
                    $action = $this->below(count($message['legal']));
                    $this->send(['type' => 'act', 'id' => $message['id'], 'action' => $action]);
                    break;
                case 'fault':
                    fwrite(STDERR, $line);
                    break;
                case 'quit':
                    return;
            }
        }
    }

    private function send(array $message): void
    {
        echo json_encode($message), "\n";
    }

    private function below(int $n): int
    {
        // Integers have a sign in PHP, these 64 bits have none: >> copies the sign, so it is cut off again.
        $this->random ^= $this->random << 13;
        $this->random ^= ($this->random >> 7) & PHP_INT_MAX >> 6;
        $this->random ^= $this->random << 17;
        $high = ($this->random >> 1) & PHP_INT_MAX;
        return ($high % $n * 2 + ($this->random & 1)) % $n;
    }
}

(new Bot())->play();
