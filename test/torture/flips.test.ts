import { describeGroup } from './describe-group.js';
import { flips } from './flips/rows.js';

describeGroup(flips);
