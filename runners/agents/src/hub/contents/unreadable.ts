/** Content that cannot be looked at. */
export class Unreadable extends Error {}
