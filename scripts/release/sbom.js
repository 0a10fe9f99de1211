import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checksum } from './checksums.js';
import { systems } from './executable.js';

/** Writes a CycloneDX bill of what is in the artefacts: the packages in the bundles, and Node.js in the executables. */
export function writeSbom(folder, { version, time, files }) {
  const titles = readFileSync('THIRD-PARTY-LICENSES.txt', 'utf8').matchAll(
    /^={80}\n((?:@[^/]+\/)?\S+) (\S+) \((.+)\)$/gm,
  );
  const bundled = [...titles].map(([, name, number, licence]) => ({
    ...packageOf(name, number),
    licenses: [{ license: { id: licence } }],
  }));
  const nodes = Object.values(systems).map(({ name, version: number, integrity }) => ({
    ...packageOf(name, number),
    description: 'Node.js',
    hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') }],
  }));
  const artefacts = files.map((name) => ({
    type: 'file',
    'bom-ref': name,
    name,
    hashes: [{ alg: 'SHA-256', content: checksum(join(folder, name)) }],
  }));
  const urtuu = packageOf('urtuu', version);
  const components = [...bundled, ...nodes, ...artefacts];
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(components))}`,
    version: 1,
    metadata: {
      timestamp: new Date(time * 1_000).toISOString(),
      component: { ...urtuu, type: 'application', licenses: [{ license: { id: 'MIT' } }] },
    },
    components,
    dependencies: [
      { ref: urtuu['bom-ref'], dependsOn: [...bundled, ...nodes].map((each) => each['bom-ref']) },
    ],
  };
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`);
  return 'sbom.cdx.json';
}

function packageOf(name, version) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type: 'library', 'bom-ref': purl, name, version, purl };
}

/** Of a text, in the form of version 5. */
function uuidOf(text) {
  const digits = createHash('sha256').update(text).digest('hex');
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `5${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
  ];
  return [...parts, digits.slice(20, 32)].join('-');
}
