import { describeGroup } from './describe-group.js';
import { doubt } from './doubt/rows.js';

describeGroup(doubt);
