import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Machine } from '../support/binary.js';
import { ProjectServer } from '../support/project-server.js';
import { carelessCommand, failAt, placesOf } from './bulk-syscalls.js';
import { type Command, type Place, realCommand, whyNoInjection } from './trial.js';

const why = whyNoInjection();

// All of them: npm run torture -- syscalls
describe.skipIf(why !== null)(
  `a job whose system calls fail${why === null ? '' : `, skipped: ${why}`}`,
  () => {
    const machine = new Machine();
    let service: ProjectServer;
    beforeAll(async () => {
      service = await ProjectServer.start();
    });
    afterAll(async () => {
      await service.close();
      machine.remove();
    });

    const nameOf = ({ call, path, nth }: Place) => `${call} ${path} ${nth}`;
    const failing = async (command: Command, isChosen: (place: Place) => boolean) => {
      const places = (await placesOf(service, command)).filter(isChosen);
      const findings = [];
      for (const place of places) findings.push(await failAt(service, command, place));
      return findings;
    };

    it('ends with 13, has sent nothing after it, and sends everything once when it is run again', {
      timeout: 60_000,
    }, async () => {
      const chosen = [
        /^fsync .*\/bodies 1$/,
        /^write .*\/plan.json 1$/,
        /^rename /,
        /^openat jobs 2$/,
        /^pread64 jobs\/july\/bodies 1$/,
        /^(?:write|fdatasync) jobs\/july\/journal [235]$/,
      ];
      const findings = await failing(realCommand, (place) => chosen.some((each) => each.test(nameOf(place))));
      expect(findings.length).toBeGreaterThan(10);
      for (const { place, reached, exit, wrong } of findings) {
        expect({ place: nameOf(place), reached, exit, wrong }).toEqual({
          place: nameOf(place),
          reached: true,
          exit: 13,
          wrong: [],
        });
      }
    });

    it('sends on when the journal overlooks what the disk says: the control that shows it would be seen', async () => {
      const careless = await carelessCommand(machine.home);
      const findings = await failing(careless, (place) => /^fdatasync .*journal [24]$/.test(nameOf(place)));
      expect(findings.map(({ wrong }) => wrong.join())).toEqual([
        expect.stringContaining('sends after it'),
        expect.stringContaining('sends after it'),
      ]);
    });
  },
);
