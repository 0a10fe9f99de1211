/** Words that the product does not use, in names, comments, messages and pages: a pattern, and what stands instead. */
export interface BannedWord {
  pattern: RegExp;
  instead: string;
  /** Where it stays, with the reason. `text` is what stands there; without it all of the file is exempt. */
  except?: readonly { file: RegExp; text?: RegExp; because: string }[];
}

const schema = { file: /^src\/service\/storage\/sqlite\/schema\//, because: 'databases hold this text' };

export const bannedWords: readonly BannedWord[] = [
  {
    pattern: /(?<!all|promise)settl/gi,
    instead: 'finalize; of a doubt: resolve; of a wait: idle',
    except: [
      { file: /^src\/cli\/bulk\/job\/run-note\.ts$/, text: /settled/, because: 'a field on the disk' },
      schema,
    ],
  },
  {
    pattern: /hand(?:s|ed)?[- ]?over/gi,
    instead: 'submit, dispatch',
    except: [{ file: /./, text: /fault-hand-over-lost/, because: 'a public address of the sandbox' }],
  },
  { pattern: /\btold\b/gi, instead: 'printed, reported' },
  { pattern: /\bGives\b/g, instead: 'returns' },
  {
    pattern: /chunk/gi,
    instead: 'request',
    except: [
      { file: /^src\/cli\/bulk\/plan\//, text: /chunks/, because: 'a file and a field on the disk' },
      {
        file: /^src\/(?:cli\/files\/files|client\/index|client\/transport\/(?:exchange|fetch)|service\/carriers\/http\/gateway-client|service\/http\/body\/read-body)\.ts$/,
        because: 'the chunks of a stream',
      },
      { file: /^src\/service\/http\/request-head\.ts$/, text: /chunked/, because: 'a coding of HTTP' },
    ],
  },
  { pattern: /answer[- ]?board/gi, instead: 'outcome waiter' },
  { pattern: /set-aside/gi, instead: 'due queue' },
  { pattern: /job-?world/gi, instead: 'job runtime' },
  { pattern: /\bbudget/gi, instead: 'spend limit' },
  { pattern: /\bpaces?\b|\bPace|allowance/g, instead: 'rate limit, throughput' },
  {
    pattern: /\bbarred\b/gi,
    instead: 'fenced',
    except: [
      { file: /^src\/service\/(?:carriers\/simulated|data\/move)\//, because: 'a table of the database' },
    ],
  },
  { pattern: /\bun?seal|\bsealing/gi, instead: 'encrypt, decrypt' },
  {
    pattern: /\bsealed\b/gi,
    instead: 'encrypted',
    except: [
      {
        file: /^src\/service\/(?:storage|admin|data|carriers\/simulated)\//,
        because: 'a column of the database',
      },
    ],
  },
  { pattern: /st(?:oo|an)ds? still/gi, instead: 'paused' },
  { pattern: /faults? of the program/gi, instead: 'internal error' },
  { pattern: /\bmend(?:s|ed|ing)?\b/gi, instead: 'fix' },
  { pattern: /(?:became|becomes?) of/gi, instead: 'the outcome' },
  {
    pattern: /(?<!there )(?:\bis|\bare|\bwas|\bwere) no\b(?! (?:longer|more)\b)/gi,
    instead: 'is not a',
    except: [schema],
  },
  { pattern: /listened on|worked on by/gi, instead: 'listens on; already running' },
  { pattern: /nothing is asked/gi, instead: 'it never prompts' },
  { pattern: /\bshall\b/gi, instead: 'must, will' },
  { pattern: /turns? of the (?:event loop|rate)/gi, instead: 'tick, permit' },
  {
    pattern: /exactly once/gi,
    instead: 'resumes and sends nothing twice',
    except: [
      {
        file: /^docs\/threats\.md$/,
        text: /accepts every/,
        because: 'a test with a service that always answers',
      },
      { file: /^src\/service\/http\/request-head\.ts$/, because: 'a header' },
    ],
  },
];
