import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';

const installed = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** Before playwright's own, which would turn the sandbox of the system on for root too. */
const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-zygote',
];

interface Binary {
  path: string;
  env: Record<string, string>;
  remove(): void;
}

/** The browser of URTUU_TEST_BROWSER, an installed one, or the one of a package, unpacked. */
function findBinary(): Binary {
  const named = process.env.URTUU_TEST_BROWSER ?? installed.find((path) => existsSync(path));
  return named === undefined ? unpack() : { path: named, env: {}, remove() {} };
}

/** With the libraries and fonts that a bare machine lacks. */
function unpack(): Binary {
  const packed = join(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '../../bin');
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-browser-'));
  const read = (name: string) => brotliDecompressSync(readFileSync(join(packed, name)));
  const path = join(folder, 'chromium');
  writeFileSync(path, read('chromium.br'), { mode: 0o755 });
  for (const name of ['al2023', 'fonts']) {
    mkdirSync(join(folder, name));
    execFileSync('tar', ['-xf', '-', '-C', join(folder, name)], { input: read(`${name}.tar.br`) });
  }
  writeFileSync(join(folder, 'fonts.conf'), fontsIn(folder));
  return {
    path,
    env: { LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'), FONTCONFIG_FILE: join(folder, 'fonts.conf') },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The same font everywhere; a form control without any would end the browser. */
const fontsIn = (folder: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'font-cache')}</cachedir>
  <match><edit name="family" mode="append"><string>Open Sans</string></edit></match>
</fontconfig>
`;

/** Starts a real Chromium. Fails, rather than skips, where none can run. */
export async function startBrowser(): Promise<{ browser: Browser; stop(): Promise<void> }> {
  const binary = findBinary();
  try {
    const browser = await chromium.launch({
      executablePath: binary.path,
      args: flags,
      env: { ...process.env, ...binary.env } as Record<string, string>,
    });
    return {
      browser,
      async stop() {
        await browser.close();
        binary.remove();
      },
    };
  } catch (error) {
    binary.remove();
    throw error;
  }
}
