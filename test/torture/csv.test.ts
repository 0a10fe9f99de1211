import { csv } from './csv/rows.js';
import { describeGroup } from './describe-group.js';

describeGroup(csv);
