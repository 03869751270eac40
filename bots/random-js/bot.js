// Plays a random legal action in any game: Node.js, no dependencies.
'use strict';

const send = (message) => process.stdout.write(JSON.stringify(message) + '\n');

let random = 1n; // the state of an xorshift64 generator: never zero

function below(n) {
  random ^= BigInt.asUintN(64, random << 13n);
  random ^= random >> 7n;
  random ^= BigInt.asUintN(64, random << 17n);
  return Number(random % BigInt(n));
}

function hear(message) {
  switch (message.type) {
    case 'hello':
      send({ type: 'hello', protocol: 1, wants: ['legal'], reusable: true });
      break;
    case 'start':
      // The referee's seed makes a match reproducible; its first 16 hex digits are 64 bits.
      random = BigInt('0x' + message.seed.slice(0, 16)) || 1n;
      send({ type: 'ready' });
      break;
    case 'act':
      send({ type: 'act', id: message.id, action: below(message.legal.length) });
      break;
    case 'fault':
      console.error(`out of the game, ${message.kind}: ${message.message}`);
      break;
    case 'quit':
      process.exit(0);
  }
}

// Without node:readline, which since Node.js 24 also ends lines at U+2028 and U+2029, inside a JSON string.
let begun = ''; // of the line whose end has not been read yet
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (begun + text).split('\n');
  begun = lines.pop();
  for (const line of lines) hear(JSON.parse(line));
});
process.stdin.on('end', () => process.exit(0)); // the end of input means quit, too
