/** Holds the newest `capacity` items; adding is O(1) and moves no item. */
export class Ring<Item> {
  private readonly items: (Item | undefined)[];
  private added = 0;

  constructor(readonly capacity: number) {
    this.items = new Array<Item | undefined>(capacity);
  }

  get length(): number {
    return Math.min(this.added, this.capacity);
  }

  push(item: Item): void {
    this.items[this.added % this.capacity] = item;
    this.added += 1;
  }

  /** 0 is the oldest item. */
  at(index: number): Item | undefined {
    if (index < 0 || index >= this.length) return undefined;
    return this.items[(this.added - this.length + index) % this.capacity];
  }

  last(): Item | undefined {
    return this.at(this.length - 1);
  }

  /** Index of the first item for which `reached` holds; `reached` must hold for all later items, too. */
  firstIndex(reached: (item: Item) => boolean): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (reached(this.at(middle) as Item)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Items from `index` on, oldest first. */
  from(index: number): Item[] {
    const found: Item[] = [];
    for (let each = Math.max(0, index); each < this.length; each += 1) found.push(this.at(each) as Item);
    return found;
  }

  clear(): void {
    this.added = 0;
    this.items.fill(undefined);
  }
}
