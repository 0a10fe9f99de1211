import { clocks } from './clocks/rows.js';
import { describeGroup } from './describe-group.js';

describeGroup(clocks);
