import { describeGroup } from './describe-group.js';
import { disk } from './disk.js';

describeGroup(disk);
