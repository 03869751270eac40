// Plays a random legal action in any game: TypeScript on Node.js, no packages.

// What is used of Node.js, in place of the package with its types.
declare const process: {
  stdin: { setEncoding(name: string): void; on(event: string, hear: (text: string) => void): void };
  stdout: { write(text: string): void };
  exit(code: number): never;
};
declare const console: { error(text: string): void };

type Message =
  | { type: 'hello' | 'end' | 'quit' }
  | { type: 'start'; seed: string }
  | { type: 'act'; id: number; legal: object[] }
  | { type: 'fault'; kind: string; message: string };

const send = (message: object): void => process.stdout.write(JSON.stringify(message) + '\n');

let random = BigInt(1); // the state of an xorshift64 generator: never zero

function below(n: number): number {
  random ^= BigInt.asUintN(64, random << BigInt(13));
  random ^= random >> BigInt(7);
  random ^= BigInt.asUintN(64, random << BigInt(17));
  return Number(random % BigInt(n));
}

function hear(message: Message): void {
  switch (message.type) {
    case 'hello':
      return send({ type: 'hello', protocol: 1, wants: ['legal'], reusable: true });
    case 'start':
      // The referee's seed makes a match reproducible; its first 16 hex digits are 64 bits.
      random = BigInt('0x' + message.seed.slice(0, 16)) || BigInt(1);
      return send({ type: 'ready' });
    case 'act':
      return send({ type: 'act', id: message.id, action: below(message.legal.length) });
    case 'fault':
      return console.error(`out of the game, ${message.kind}: ${message.message}`);
    case 'quit':
      process.exit(0);
  }
}

// Without node:readline, which since Node.js 24 also ends lines at U+2028 and U+2029, inside a JSON string.
let begun = ''; // of the line whose end has not been read yet
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text) => {
  const lines = (begun + text).split('\n');
  begun = lines.pop() ?? '';
  for (const line of lines) hear(JSON.parse(line));
});
process.stdin.on('end', () => process.exit(0)); // the end of input means quit, too
