import { describeGroup } from './describe-group.js';
import { lanes } from './lanes/rows.js';

describeGroup(lanes);
