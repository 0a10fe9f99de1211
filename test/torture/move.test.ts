import { describeGroup } from './describe-group.js';
import { move } from './move/rows.js';

describeGroup(move);
