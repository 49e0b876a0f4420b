// ThreadUnaligned.cpp - wide accesses at any address, in aligned windows
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Neighbouring lanes have neighbouring packs of elements, which start somewhere
// in a window of 16 bytes. A lane loads the windows that its pack lies in and
// shifts; it stores the windows that its pack starts, whose first bytes it gets
// from the lane before. Every window holds a byte that the lane itself accesses
// or, where it would reach beyond that, one of the next lane: all of it lies in
// the tensor, but for bytes in front of its first element, and memory is
// allocated in larger blocks than windows. At the ends of a warp and of a row,
// single words are stored, and loaded behind the last element.
#include "codegen/Lowering/ThreadKernel.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

struct ThreadKernel::Unaligned {
  int64_t window; // bytes
  int64_t words, windowWords;
  Value base;           // the window in which the pack starts
  Value skew;           // i32: bytes of it in front of the pack
  Value skewed;         // i1: there are such bytes
  Value whole;          // i1: the lane has all elements; null: always
  Value previous, next; // i1: and so has that neighbour
};

bool ThreadKernel::isUnaligned(Type element, size_t count, int64_t align,
                               Value laneOffsets, int64_t laneStride) const {
  int64_t bytes = int64_t(count) * element.getIntOrFloatBitWidth() / 8;
  return machine.alignsAccesses && count > 1 && align < bytes && align < 16 &&
         bytes % 4 == 0 && (bytes < 16 || bytes % 16 == 0) && !laneOffsets &&
         laneStride == int64_t(count);
}

namespace {

/// Integer and pointer arithmetic of one access.
struct Words {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t v) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                    builder.getI32IntegerAttr(v));
  }
  Value both(Value a, Value b) {
    return !a || !b ? (a ? a : b) : LLVM::AndOp::create(builder, loc, a, b);
  }
  Value inverse(Value a) {
    Value one = LLVM::ConstantOp::create(builder, loc, builder.getI1Type(),
                                         builder.getBoolAttr(true));
    return LLVM::XOrOp::create(builder, loc, a, one);
  }
  Value compare(LLVM::ICmpPredicate how, Value a, int64_t b) {
    return LLVM::ICmpOp::create(builder, loc, how, a, constant(b));
  }
  Value has(Value a, int64_t bit) {
    return compare(LLVM::ICmpPredicate::ne,
                   LLVM::AndOp::create(builder, loc, a, constant(bit)), 0);
  }
  Value select(Value c, Value a, Value b) {
    return LLVM::SelectOp::create(builder, loc, c, a, b);
  }
  Value at(Value base, int64_t bytes) {
    return LLVM::GEPOp::create(builder, loc, base.getType(),
                               builder.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{int(bytes)});
  }
  SmallVector<Value> take(Value vector, int64_t count) {
    SmallVector<Value> result;
    for (int64_t i = 0; i < count; ++i)
      result.push_back(
          LLVM::ExtractElementOp::create(builder, loc, vector, constant(i)));
    return result;
  }
  Value join(Type element, ValueRange values) {
    Type type = VectorType::get({int64_t(values.size())}, element);
    Value result = LLVM::UndefOp::create(builder, loc, type);
    for (auto [i, value] : llvm::enumerate(values))
      result = LLVM::InsertElementOp::create(builder, loc, result, value,
                                             constant(i));
    return result;
  }
  /// `count` words from byte `amount` (i32, less than `window`) on.
  SmallVector<Value> shift(SmallVector<Value> words, Value amount,
                           int64_t window, int64_t count) {
    for (int64_t step = window / 8; step > 0; step /= 2) {
      Value moves = has(amount, 4 * step);
      for (size_t i = 0; i + step < words.size(); ++i)
        words[i] = select(moves, words[i + step], words[i]);
    }
    Value bits = LLVM::ShlOp::create(
        builder, loc, LLVM::AndOp::create(builder, loc, amount, constant(3)),
        constant(3));
    for (int64_t i = 0; i < count; ++i)
      words[i] =
          LLVM::FshrOp::create(builder, loc, words[i + 1], words[i], bits);
    words.resize(count);
    return words;
  }
};

} // namespace

ThreadKernel::Unaligned ThreadKernel::unaligned(Value at, Type element,
                                                size_t count, ValueRange masks,
                                                bool isStore) {
  Words words{builder, loc};
  Unaligned a;
  int64_t bytes = int64_t(count) * element.getIntOrFloatBitWidth() / 8;
  a.window = std::min<int64_t>(bytes, 16);
  a.words = bytes / 4;
  a.windowWords = a.window / 4;
  Value address =
      LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), at);
  Value low =
      LLVM::TruncOp::create(builder, loc, builder.getI32Type(), address);
  a.skew = LLVM::AndOp::create(builder, loc, low, words.constant(a.window - 1));
  a.skewed = words.compare(LLVM::ICmpPredicate::ne, a.skew, 0);
  Value back = LLVM::SubOp::create(
      builder, loc, i64(0),
      LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), a.skew));
  a.base = LLVM::GEPOp::create(builder, loc, at.getType(), builder.getI8Type(),
                               at, ValueRange{back});
  for (Value mask : masks)
    a.whole = words.both(a.whole, mask);
  // What a store exchanges, and a mask, is known within a subgroup.
  int64_t group = schedule.getLanes();
  if (isStore || a.whole)
    group = std::min(group, machine.subgroup);
  Value own = LLVM::TruncOp::create(builder, loc, builder.getI32Type(), lane);
  own = LLVM::AndOp::create(builder, loc, own, words.constant(group - 1));
  a.previous = words.compare(LLVM::ICmpPredicate::ne, own, 0);
  a.next = words.compare(LLVM::ICmpPredicate::ne, own, group - 1);
  if (!a.whole)
    return a;
  Value flag =
      LLVM::ZExtOp::create(builder, loc, builder.getI32Type(), a.whole);
  auto also = [&](Value exists, bool next) {
    return words.both(exists, words.has(neighbour(flag, next), 1));
  };
  a.next = also(a.next, true);
  if (isStore)
    a.previous = also(a.previous, false);
  return a;
}

void ThreadKernel::loadUnaligned(kernel::LoadOp op, Value from) {
  Words words{builder, loc};
  Type element = op.getValues().front().getType(), word = builder.getI32Type();
  int64_t count = op.getValues().size();
  unsigned natural = element.getIntOrFloatBitWidth() / 8;
  Unaligned a = unaligned(from, element, count, op.getMasks(), false);
  Type window = VectorType::get({a.windowWords}, word);
  int64_t windows = a.words / a.windowWords;

  SmallVector<Value> all;
  auto loadWindow = [&](int64_t k, Value mask) {
    Value vector = guarded(mask, TypeRange(window), [&] {
      return SmallVector<Value>{LLVM::LoadOp::create(
          builder, loc, window, words.at(a.base, k * a.window), a.window)};
    })[0];
    llvm::append_range(all, words.take(vector, a.windowWords));
  };
  for (int64_t k = 0; k < windows; ++k)
    loadWindow(k, a.whole);
  Value beyond = words.both(a.whole, a.skewed);
  loadWindow(windows, words.both(beyond, a.next));

  // The last elements where the next lane's are not known to be there: `skew`
  // bytes of the window behind.
  Value end = words.at(a.base, a.words * 4);
  Value alone = words.both(beyond, words.inverse(a.next));
  SmallVector<Type> types(a.windowWords, word);
  SmallVector<Value> tail = guarded(alone, types, [&] {
    SmallVector<Value> result;
    for (int64_t w = 0; w < a.windowWords; ++w) {
      Value inside = words.compare(LLVM::ICmpPredicate::uge, a.skew, 4 * w + 4);
      result.push_back(
          w + 1 == a.windowWords
              ? words.constant(0) // skew is less than a window
              : guarded(inside, TypeRange(word), [&] {
                  return SmallVector<Value>{LLVM::LoadOp::create(
                      builder, loc, word, words.at(end, 4 * w), 4)};
                })[0]);
    }
    if (natural < 4) {
      Type half = builder.getI16Type();
      Value last = LLVM::LoadOp::create(
          builder, loc, half, words.at(from, (count - 1) * natural), natural);
      last = LLVM::ZExtOp::create(builder, loc, word, last);
      Value odd = words.has(a.skew, 2);
      Value where =
          LLVM::LShrOp::create(builder, loc, a.skew, words.constant(2));
      for (int64_t w = 0; w < a.windowWords; ++w) {
        Value here = words.compare(LLVM::ICmpPredicate::eq, where, w);
        result[w] = words.select(words.both(odd, here), last, result[w]);
      }
    }
    return result;
  });
  for (int64_t w = 0; w < a.windowWords; ++w)
    all[a.words + w] = words.select(alone, tail[w], all[a.words + w]);

  Value own = words.join(word, words.shift(all, a.skew, a.window, a.words));
  Type packed = VectorType::get({count}, element);
  SmallVector<Value> values =
      words.take(LLVM::BitcastOp::create(builder, loc, packed, own), count);
  if (op.getMasks().size() > 1) { // a pack of which some elements exist
    SmallVector<Type> each(count, element);
    Value partly = words.inverse(a.whole);
    SmallVector<Value> some = guarded(partly, each, [&] {
      SmallVector<Value> result;
      for (int64_t j = 0; j < count; ++j)
        result.push_back(guarded(op.getMasks()[j], TypeRange(element), [&] {
          return SmallVector<Value>{LLVM::LoadOp::create(
              builder, loc, element, words.at(from, j * natural), natural)};
        })[0]);
      return result;
    });
    for (auto [value, one] : llvm::zip(values, some))
      value = words.select(partly, one, value);
  }
  for (auto [result, value] : llvm::zip(op.getValues(), values))
    result.replaceAllUsesWith(value);
}

void ThreadKernel::storeUnaligned(kernel::StoreOp op, Value to) {
  Words words{builder, loc};
  Type element = op.getValues().front().getType(), word = builder.getI32Type();
  int64_t count = op.getValues().size();
  unsigned natural = element.getIntOrFloatBitWidth() / 8;
  Unaligned a = unaligned(to, element, count, op.getMasks(), true);
  auto put = [&](Value value, Value where, int64_t align) {
    LLVM::StoreOp::create(builder, loc, value, where, align);
  };
  auto when = [&](Value mask, llvm::function_ref<void()> body) {
    guarded(mask, {}, [&] {
      body();
      return SmallVector<Value>();
    });
  };

  Value packed = words.join(element, op.getValues());
  SmallVector<Value> own =
      words.take(LLVM::BitcastOp::create(
                     builder, loc, VectorType::get({a.words}, word), packed),
                 a.words);
  // The words before, one's own, and nothing: from there, `window - skew`
  // bytes on, starts the window in which the pack does.
  SmallVector<Value> all;
  for (int64_t w = a.words - a.windowWords; w < a.words; ++w)
    all.push_back(neighbour(own[w], false));
  llvm::append_range(all, own);
  all.append(a.windowWords + 1, words.constant(0));
  Value amount = LLVM::AndOp::create(
      builder, loc,
      LLVM::SubOp::create(builder, loc, words.constant(a.window), a.skew),
      words.constant(a.window - 1));
  SmallVector<Value> moved =
      words.shift(all, amount, a.window, a.words + a.windowWords);

  int64_t windows = a.words / a.windowWords;
  Value first =
      LLVM::OrOp::create(builder, loc, words.inverse(a.skewed), a.previous);
  for (int64_t k = 0; k < windows; ++k)
    when(k == 0 ? words.both(a.whole, first) : a.whole, [&] {
      SmallVector<Value> values;
      for (int64_t w = k * a.windowWords; w < (k + 1) * a.windowWords; ++w)
        values.push_back(words.select(a.skewed, moved[w], own[w]));
      put(words.join(word, values), words.at(a.base, k * a.window), a.window);
    });

  // Words of the first window that no lane before stores, and of the window
  // behind that no lane after does.
  Value skewed = words.both(a.whole, a.skewed), odd = words.has(a.skew, 2);
  when(words.both(skewed, words.inverse(a.previous)), [&] {
    for (int64_t w = 1; w < a.windowWords; ++w)
      when(words.compare(LLVM::ICmpPredicate::ule, a.skew, 4 * w),
           [&] { put(moved[w], words.at(a.base, 4 * w), 4); });
    if (natural < 4)
      when(odd, [&] { put(op.getValues().front(), to, natural); });
  });
  when(words.both(skewed, words.inverse(a.next)), [&] {
    for (int64_t w = 0; w + 1 < a.windowWords; ++w)
      when(words.compare(LLVM::ICmpPredicate::uge, a.skew, 4 * w + 4), [&] {
        put(moved[a.words + w], words.at(a.base, 4 * (a.words + w)), 4);
      });
    if (natural < 4)
      when(odd, [&] {
        put(op.getValues().back(), words.at(to, (count - 1) * natural),
            natural);
      });
  });
  if (op.getMasks().size() > 1)
    when(words.inverse(a.whole), [&] {
      for (int64_t j = 0; j < count; ++j)
        when(op.getMasks()[j], [&] {
          put(op.getValues()[j], words.at(to, j * natural), natural);
        });
    });
}
