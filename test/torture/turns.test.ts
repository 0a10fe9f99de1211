import { describeGroup } from './describe-group.js';
import { turns } from './turns/rows.js';

describeGroup(turns);
