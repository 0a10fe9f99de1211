import { describeGroup } from './describe-group.js';
import { print } from './print/rows.js';

describeGroup(print);
