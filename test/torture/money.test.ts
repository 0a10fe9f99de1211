import { describeGroup } from './describe-group.js';
import { money } from './money/rows.js';

describeGroup(money);
